// Paths of shipped code, as a host has them: what a plan names below the folder that was shipped is found below its
// copy. Pure text.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "code/tree.h"

namespace muster {

class ShippedPaths {
 public:
  ShippedPaths() = default;
  // `folder` is where the host has the tree.
  ShippedPaths(std::shared_ptr<const CodeTree> tree, std::string folder)
      : tree_(std::move(tree)), folder_(std::move(folder)) {}

  // The text with every path below the tree's folder led into the copy, if it is shipped or the folder that holds it
  // is. A path begins where a word does, or behind what is no part of one (--file=PATH, A:B, 'PATH').
  std::string Led(std::string_view text) const;

 private:
  std::string LedFrom(const std::string& root, std::string_view text) const;
  bool IsShipped(std::string_view below) const;

  std::shared_ptr<const CodeTree> tree_;
  std::string folder_;
};

}  // namespace muster
