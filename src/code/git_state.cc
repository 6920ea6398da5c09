#include "code/git_state.h"

#include <fmt/format.h>

#include "base/values/shell_quote.h"

namespace muster {
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
      if (state.names.size() < GitState::kMostNames) state.names.emplace_back(Behind(line, fields));
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
  if (state.changed > 0) text += fmt::format(", {} file{} changed", state.changed, state.changed == 1 ? "" : "s");
  if (state.untracked > 0) text += fmt::format(", {} untracked", state.untracked);
  if (state.changed == 0 && state.untracked == 0) text += ", clean";
  return text;
}

}  // namespace muster
