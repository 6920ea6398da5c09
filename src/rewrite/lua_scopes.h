// The local variables that are visible at a place of Lua source, by name, while it is parsed.
#pragma once

#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "rewrite/lua_tree.h"

namespace muster {

class LuaScopes {
 public:
  // Adds to `locals`, which must outlive it.
  explicit LuaScopes(std::vector<LuaLocal>& locals) : locals_(locals) {}

  int Declare(std::string_view name) {
    LuaLocal local;
    local.name = name;
    local.outer = innermost_;
    local.shadows = Resolve(name);
    locals_.push_back(std::move(local));
    innermost_ = static_cast<int>(locals_.size()) - 1;
    by_name_[name] = innermost_;
    return innermost_;
  }

  // The local that the name means; -1: a global variable.
  int Resolve(std::string_view name) const {
    const auto found = by_name_.find(name);
    return found == by_name_.end() ? -1 : found->second;
  }

  // The one that was declared last; -1: none is visible.
  int innermost() const { return innermost_; }

  // Ends the scope of the locals that were declared since `before` was the innermost one.
  void HideUpTo(int before) {
    while (innermost_ != before) {
      const LuaLocal& local = locals_[static_cast<std::size_t>(innermost_)];
      by_name_[local.name] = local.shadows;
      innermost_ = local.outer;
    }
  }

 private:
  std::vector<LuaLocal>& locals_;
  std::unordered_map<std::string_view, int> by_name_;
  int innermost_ = -1;
};

}  // namespace muster
