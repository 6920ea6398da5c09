// The uses of the context API in a recipe's text, and which of their settings move to functions, with the reason why
// the others stay. The rules are those of the schema (Move) and of the functions themselves: their parameters, and
// how often they can be called.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "muster/mindspore/schema.h"
#include "rewrite/lua_tree.h"

namespace muster {

// The uses of the context API in a recipe's text: calls that can be rewritten, and uses that cannot be followed.

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

// Decides which settings of a recipe's calls move to functions, and why the others stay. The rules are those of the
// schema (Move) and of the functions themselves: their parameters, and how often they can be called.

struct RewriteTarget {
  const Schema* schema = nullptr;  // must outlive the rewriting
  Release release;
  std::string release_text;  // as the recipe will name it: "2.7"
  Release own_release;       // the recipe's, as evaluated
  // The contexts of the processes as evaluated for the release, by key ("set_context.mode"): what the recipe computes
  // on and in which mode decides whether some settings mean the same.
  std::vector<Value::Map> contexts;
  // The other Lua files of the recipe, by name: what they set, call or read decides as well.
  std::map<std::string, std::string> other_files;
  // Functions without a counterpart in a recipe, and why: all calls of them stay.
  std::map<std::string, std::string> staying;
};

// A setting that stays, or a call or use that cannot be understood.
struct LeftSetting {
  std::uint32_t line = 0;
  std::string what;  // "ascend_config.exception_dump"
  std::string reason;

  bool operator==(const LeftSetting&) const = default;
};

// One field of a call's table, or of a table in it.
struct OldSetting {
  std::size_t call = 0;   // of ContextUses::calls
  std::size_t field = 0;  // of the call's table
  std::optional<std::size_t> sub_field;
  std::uint32_t line = 0;
  std::string name;                      // "ascend_config.precision_mode"
  const Attribute* attribute = nullptr;  // or the sub-key …
  const Attribute* whole = nullptr;      // … and its table; else the attribute
  const Function* function = nullptr;    // that it moves to
  std::string parameter;
  std::optional<std::string> argument;  // the new text of its value; nothing: its own
  bool needs_no_call = false;           // its value says that the function is not called
  std::string reason;                   // why it stays; empty: it moves
};

struct Decisions {
  std::vector<OldSetting> moved;
  std::vector<LeftSetting> left;
};

// `names_release`: the recipe's own release can be changed in this text.
Decisions DecideMoves(const LuaTree& tree, std::string_view text, const ContextUses& uses, const RewriteTarget& target,
                      bool names_release);

}  // namespace muster
