#include "code/git.h"

#include <algorithm>
#include <set>
#include <utility>

#include <boost/asio/post.hpp>
#include <fcntl.h>
#include <fmt/format.h>

#include "base/values/quoting.h"
#include "base/values/text_parts.h"

namespace muster {
namespace {

// For untrusted repositories: options on the command line override all configuration files.
const std::vector<std::string> kSafeWords = {
    "git", "--no-pager",          "-c", "core.fsmonitor=false",  "-c", "core.hooksPath=/dev/null",
    "-c",  "core.pager=cat",      "-c", "core.sshCommand=false", "-c", "credential.helper=",
    "-c",  "protocol.allow=never"};

std::vector<std::string> SafeEnvironment(const std::vector<std::string>& environment,
                                         const std::vector<std::string>& filters) {
  std::vector<std::string> safe = {
      "LC_ALL=C",      "GIT_OPTIONAL_LOCKS=0",    "GIT_TERMINAL_PROMPT=0", "GIT_ASKPASS=false",
      "GIT_PAGER=cat", "GIT_ALLOW_PROTOCOL=none", "GIT_NO_LAZY_FETCH=1",   "GIT_NO_REPLACE_OBJECTS=1"};
  for (const std::string& variable : environment) {
    for (const std::string_view name : {"PATH=", "HOME=", "XDG_CONFIG_HOME="}) {
      if (variable.starts_with(name)) safe.push_back(variable);
    }
  }
  // Passed in variables, since "-c" would split names that contain '='.
  std::size_t count = 0;
  const auto set = [&](const std::string& filter, std::string_view key, std::string_view value) {
    safe.push_back(fmt::format("GIT_CONFIG_KEY_{}=filter.{}.{}", count, filter, key));
    safe.push_back(fmt::format("GIT_CONFIG_VALUE_{}={}", count++, value));
  };
  for (const std::string& filter : filters) {
    for (const std::string_view key : {"clean", "smudge", "process"}) set(filter, key, "");
    set(filter, "required", "false");
  }
  safe.push_back(fmt::format("GIT_CONFIG_COUNT={}", count));
  return safe;
}

SpawnSpec GitSpec(const std::string& folder, const std::vector<std::string>& words,
                  const std::vector<std::string>& variables) {
  SpawnSpec spec;
  spec.argv = kSafeWords;
  spec.argv.insert(spec.argv.end(), words.begin(), words.end());
  spec.env = EnvPointers(variables);
  spec.cwd = folder;
  return spec;
}

}  // namespace

GitCall::GitCall(Launcher& launcher, const std::string& folder, const std::vector<std::string>& words,
                 const std::vector<std::string>& environment, const std::vector<std::string>& filters)
    : CapturedCommand(launcher, GitSpec(folder, words, SafeEnvironment(environment, filters))) {}

std::vector<std::string> FilterWords() {
  return {"config", "-z", "--name-only", "--get-regexp", R"(^filter\..*\.(clean|smudge|process|required)$)"};
}

std::vector<std::string> FiltersIn(const std::string& out) {
  std::set<std::string> filters;
  constexpr std::string_view kFilter = "filter.";
  for (std::size_t at = 0; at < out.size();) {
    const std::size_t end = std::min(out.find('\0', at), out.size());
    const std::string key = out.substr(at, end - at);
    at = end + 1;
    const std::size_t dot = key.rfind('.');
    if (key.starts_with(kFilter) && dot >= kFilter.size())
      filters.insert(key.substr(kFilter.size(), dot - kFilter.size()));
  }
  return {filters.begin(), filters.end()};
}

namespace {

constexpr std::string_view kCommit = "# branch.oid ";
constexpr std::string_view kBranch = "# branch.head ";
constexpr std::size_t kShownDigits = 12;

// The rest of the line after so many fields separated by blanks.
std::string_view Behind(std::string_view line, int fields) {
  for (; fields > 0; --fields) {
    const std::size_t blank = line.find(' ');
    if (blank == std::string_view::npos) return {};
    line.remove_prefix(blank + 1);
  }
  return line;
}

// The number of fields before the path (git-status(1), porcelain format version 2); 0: not a line about a file.
int FieldsBeforePath(char kind) {
  switch (kind) {
    case '1':
      return 8;
    case '2':
      return 9;
    case 'u':
      return 10;
    case '?':
      return 1;
    default:
      return 0;
  }
}

}  // namespace

std::optional<GitState> ReadGitStatus(std::string_view bytes) {
  GitState state;
  bool reported = false;
  while (!bytes.empty()) {
    const std::size_t end = bytes.find('\0');
    if (end == std::string_view::npos) return std::nullopt;  // truncated
    const std::string_view line = bytes.substr(0, end);
    bytes.remove_prefix(end + 1);
    if (line.empty()) return std::nullopt;
    if (line.starts_with(kCommit)) {
      reported = true;
      const std::string_view commit = line.substr(kCommit.size());
      if (commit != "(initial)") state.commit = commit;
    } else if (line.starts_with(kBranch)) {
      const std::string_view branch = line.substr(kBranch.size());
      if (branch != "(detached)") state.branch = branch;
    } else if (const int fields = FieldsBeforePath(line.front()); fields > 0) {
      ++(line.front() == '?' ? state.untracked : state.changed);
      if (state.names.size() < GitState::kMaxNames) state.names.emplace_back(Behind(line, fields));
      // A renamed file is followed by its old name.
      if (line.front() == '2') bytes.remove_prefix(std::min(bytes.find('\0'), bytes.size() - 1) + 1);
    }
  }
  if (!reported) return std::nullopt;
  return state;
}

std::string GitStateText(const GitState& state) {
  std::string text = state.commit.empty() ? "no commit yet" : Printable(state.commit.substr(0, kShownDigits));
  if (!state.branch.empty()) text += fmt::format(" ({})", Printable(state.branch));
  if (state.changed > 0) text += fmt::format(", {} changed", Counted(state.changed, "file"));
  if (state.untracked > 0) text += fmt::format(", {} untracked", state.untracked);
  if (state.changed == 0 && state.untracked == 0) text += ", clean";
  return text;
}

GitQuery::GitQuery(boost::asio::io_context& io, std::string folder, std::vector<std::string> environment, Done done)
    : io_(io),
      folder_(std::move(folder)),
      environment_(std::move(environment)),
      done_(std::move(done)),
      deadline_(io.get_executor()) {
  deadline_.expires_after(kWithin);
  deadline_.async_wait([this, alive = alive_](const boost::system::error_code& error) {
    if (!error && *alive) Report(std::nullopt);
  });
  Begin(FilterWords(), {}, [this](const CommandOutput& named) {
    // 1: no filters; a folder without a repository has none either, which the next call reports.
    if (named.exit_code < 0) return Report(std::nullopt);
    Begin({"status", "--porcelain=v2", "--branch", "-z", "--ignore-submodules=dirty"}, FiltersIn(named.out),
          [this](const CommandOutput& status) {
            Report(status.exit_code == 0 ? ReadGitStatus(status.out) : std::nullopt);
          });
  });
}

GitQuery::~GitQuery() { *alive_ = false; }

void GitQuery::Begin(const std::vector<std::string>& words, const std::vector<std::string>& filters,
                     std::function<void(const CommandOutput&)> then) {
  const auto refuse = [&] {
    boost::asio::post(io_, [this, alive = alive_] {
      if (*alive) Report(std::nullopt);
    });
  };
  call_ = std::make_unique<GitCall>(launcher_, folder_, words, environment_, filters);
  // Without pidfds the end cannot be watched, so git's state is not reported.
  const int watched = call_->going() && call_->ref().pidfd >= 0 ? ::fcntl(call_->ref().pidfd, F_DUPFD_CLOEXEC, 0) : -1;
  if (watched < 0) return refuse();
  ended_ = std::make_unique<WatchedFd>(io_.get_executor(), watched);
  ended_->async_wait(WatchedFd::wait_read,
                     [this, alive = alive_, then = std::move(then)](const boost::system::error_code& error) {
                       if (error || !*alive || !done_) return;
                       const std::unique_ptr<GitCall> call = std::move(call_);
                       then(call->Take(std::chrono::milliseconds(0)));
                     });
}

void GitQuery::Report(std::optional<GitState> state) {
  if (!done_) return;
  deadline_.cancel();
  ended_.reset();
  call_.reset();
  std::exchange(done_, nullptr)(state);
}

}  // namespace muster
