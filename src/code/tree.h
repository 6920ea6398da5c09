// The code tree that is shipped to hosts: the files below a folder that git tracks, or all files without
// git.
//
// Reads the folder, its files and git. Modes, sizes and contents are the current ones, committed or not.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "muster/result.h"
#include "wire/files/code_tree.h"

namespace muster {

struct CodeTree {
  std::string folder;           // absolute, links in it resolved
  std::string also_named = {};  // absolute, as the user named it, if that differs
  bool by_git = false;
  std::vector<CodeEntry> entries;
  std::string hash;
  std::uint64_t bytes = 0;
  std::vector<std::string> untracked;    // neither tracked nor ignored by git: not shipped
  std::vector<std::string> leading_out;  // links that lead out of the tree
  std::vector<std::string> passed_over;  // neither files nor links
  std::vector<std::string> outside;      // tracked by git, but outside the tree because of a link or their name

  // Whether a file or folder of that name below the folder ("" is the folder itself) is shipped.
  bool Has(const std::string& relative) const;
};

struct CodeTreeLimits {
  static constexpr std::uint64_t kDefaultBytes = 500'000'000;
  std::uint64_t bytes = kDefaultBytes;
};

// `folder` is absolute. Folders in `but`, relative to it, are skipped. `seen` is called from time to time with the
// bytes read and the total. Kind "ship" for files that cannot be shipped.
Result<CodeTree> ReadCodeTree(const std::string& folder, const std::vector<std::string>& environment,
                              const CodeTreeLimits& limits, const std::vector<std::string>& but,
                              const std::function<void(std::uint64_t, std::uint64_t)>& seen = {});

// "a.py, b.py and 3 more"
std::string SomeNames(const std::vector<std::string>& names);

}  // namespace muster
