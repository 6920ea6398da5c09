// The uses of the context API in a recipe's text: calls that can be rewritten, and uses that cannot be followed.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "muster/mindspore/schema.h"
#include "rewrite/lua_tree.h"

namespace muster {

constexpr std::string_view kProcessContext = "process:context";

// `context.set_context { … }` or `process:context { … }` as a statement, with named fields only.
struct ContextCall {
  std::string api;  // "set_context", …, or kProcessContext
  int node = kNoNode;
  int local = -1;   // the innermost local that the call sees
  int scope = 0;    // the function of the innermost `each` around it; 0: the job
  int module = -1;  // the local of the context module that it is called through; -1: none
};

// A call of a newer function, or another use of it.
struct FunctionCall {
  std::string function;
  std::uint32_t line = 0;
  int scope = 0;
};

// A use that is left as it is.
struct UnclearUse {
  std::uint32_t line = 0;
  std::string what;
  std::string reason;
};

struct ContextUses {
  std::vector<ContextCall> calls;
  std::vector<FunctionCall> functions;
  std::vector<UnclearUse> unclear;
  std::set<std::string> read;   // attributes that getters read
  std::uint32_t reads_any = 0;  // the line of a getter whose attribute is an expression; 0: none
  int release = kNoNode;        // the value of the recipe's field `mindspore`
  bool extends = false;         // it extends another recipe
  // The module ("muster.context", "muster.mindspore" or "muster") that each local stands for; empty: none.
  std::vector<std::string> modules;
};

// The local through which a call that sees `innermost` can reach the module; -1 if there is none.
int VisibleModule(const LuaTree& tree, const ContextUses& uses, int innermost, std::string_view module);

ContextUses FindContextUses(const LuaTree& tree, std::string_view text, const Schema& schema);

}  // namespace muster
