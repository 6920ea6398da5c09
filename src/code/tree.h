// The tree of code that is shipped to hosts: the files below a folder that git knows, or all of them where there is no
// git.
//
// Knows the folder, its files and git. Modes, sizes and contents are those of now, committed or not.
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
  std::string also_named = {};  // absolute, as the user named it, if that is another
  bool by_git = false;
  std::vector<CodeEntry> entries;
  std::string hash;
  std::uint64_t bytes = 0;
  std::vector<std::string> untracked;    // what git does not know and does not ignore: it is not shipped
  std::vector<std::string> leading_out;  // links that lead out of the tree
  std::vector<std::string> passed_over;  // what is neither file nor link
  std::vector<std::string> outside;      // what git knows, but a link or its own name leads out of the tree

  // Whether there is something of that name below the folder ("" is the folder itself) that is shipped.
  bool Has(const std::string& relative) const;
};

struct CodeTreeLimits {
  static constexpr std::uint64_t kDefaultBytes = 500'000'000;
  std::uint64_t bytes = kDefaultBytes;
};

// `folder` is absolute. Folders of these names, relative to it, are not looked into: `but`. `seen` is told now and then
// how many bytes of how many have been read. Kind "ship" for what cannot be shipped.
Result<CodeTree> ReadCodeTree(const std::string& folder, const std::vector<std::string>& environment,
                              const CodeTreeLimits& limits, const std::vector<std::string>& but,
                              const std::function<void(std::uint64_t, std::uint64_t)>& seen = {});

// "a.py, b.py and 3 more"
std::string SomeNames(const std::vector<std::string>& names);

}  // namespace muster
