// Decides which settings of a recipe's calls move to functions, and why the others stay. The rules are those of the
// schema (Move) and of the functions themselves: their parameters, and how often they can be called.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "muster/mindspore/schema.h"
#include "rewrite/context_uses.h"
#include "rewrite/lua_tree.h"

namespace muster {

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
