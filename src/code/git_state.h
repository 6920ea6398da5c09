// The state in which git has the folder of a run's code, read out of what git says. Pure text.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace muster {

struct GitState {
  std::string commit;              // its hash; empty before the first one
  std::string branch;              // empty if it is on none
  std::uint32_t changed = 0;       // files that are not as in the commit
  std::uint32_t untracked = 0;     // files, and folders of them, that git does not know and does not ignore
  std::vector<std::string> names;  // of both, the first kMostNames, as git has them

  static constexpr std::size_t kMostNames = 20;

  bool operator==(const GitState&) const = default;
};

// Of "git status --porcelain=v2 --branch -z"; nothing if it is none.
std::optional<GitState> ReadGitStatus(std::string_view bytes);

// "9f3c1d20a1b2 (main), 3 files changed, 1 untracked"; names are not in it.
std::string GitStateText(const GitState& state);

}  // namespace muster
