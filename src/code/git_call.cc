#include "code/git_call.h"

#include <algorithm>
#include <set>
#include <string_view>

#include <fmt/format.h>

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

}  // namespace muster
