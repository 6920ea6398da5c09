// Maps paths of shipped code to a host's copy: paths of a plan below the shipped folder become paths below the copy.
// Pure text.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "code/tree.h"

namespace muster {

class ShippedPaths {
 public:
  ShippedPaths() = default;
  // `folder`: path of the tree on the host.
  ShippedPaths(std::shared_ptr<const CodeTree> tree, std::string folder)
      : tree_(std::move(tree)), folder_(std::move(folder)) {}

  // The text in which every path below the tree's folder is replaced by its path in the copy, if the file or its folder
  // was shipped. A path begins at the beginning of a word, or after a character that cannot be part of one
  // (--file=PATH, A:B, 'PATH').
  std::string Led(std::string_view text) const;
  // The copy on the host.
  const std::string& folder() const { return folder_; }

 private:
  std::string LedFrom(const std::string& root, std::string_view text) const;
  bool IsShipped(std::string_view below) const;

  std::shared_ptr<const CodeTree> tree_;
  std::string folder_;
};

}  // namespace muster
