// The git state of the folder of a run's code, parsed from git's output. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace muster {

struct GitState {
  std::string commit;              // its hash; empty before the first one
  std::string branch;              // empty if detached
  std::uint32_t changed = 0;       // files that differ from the commit
  std::uint32_t untracked = 0;     // files and folders that are neither tracked nor ignored
  std::vector<std::string> names;  // of both, the first kMostNames, as git prints them

  static constexpr std::size_t kMostNames = 20;

  bool operator==(const GitState&) const = default;
};

// Parses "git status --porcelain=v2 --branch -z"; nothing if it is invalid.
std::optional<GitState> ReadGitStatus(std::string_view bytes);

// "9f3c1d20a1b2 (main), 3 files changed, 1 untracked"; without names of files.
std::string GitStateText(const GitState& state);

}  // namespace muster
