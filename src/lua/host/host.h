// The host of an interpreter: the state that the functions of recipes (bind_*.cc) work on, and how they read Lua
// tables as values. Collects diagnostics, contexts and the draft of the plan. Uses Lua only through the state that it
// belongs to.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <lua.hpp>

#include "evaluation/exchange/evaluation.h"
#include "lua/state/stack.h"
#include "lua/state/state.h"
#include "muster/mindspore/context.h"
#include "muster/mindspore/schema.h"
#include "plan/environment/environment.h"
#include "plan/hosts/placement.h"

namespace muster {

// The host of an interpreter: the state that the functions of recipes (bind_*.cc) work on. Collects diagnostics,
// contexts and the draft of the plan. Uses Lua only through the state that it belongs to.

// The state of one plan.
struct PlanDraft {
  std::optional<Context> context;               // once the recipe has named its release
  bool planning = false;                        // inside the plan function: context calls are allowed
  ShippedFiles shipped_files;                   // of muster.file, by placeholder text
  std::map<std::string, Place> shipped_places;  // the same by path below files/: where muster.file was called
  // One overlay per process whose `each` called the context; a deque, because overlays do not move.
  std::deque<Context> overlays;
  std::map<std::string, Context*> overlay_of;            // "worker.2"
  std::string current_process;                           // inside `each`
  std::map<std::string, std::uint32_t> visible_devices;  // by process with devices: number of visible ones
  std::map<std::string, std::uint32_t> device_ids;       // by process with one device: its number for the framework

  std::vector<Mesh> meshes;
  EnvironmentLayer job_env;
  EnvironmentLayer command_line_env;  // --env, unless the recipe takes it as a parameter
  Plan plan;
  // Last names of parameters that are floats, unless another parameter of that name is none: a whole number at such a
  // key of a file of the recipe is written as 1.0.
  std::set<std::string, std::less<>> float_keys;
  std::map<std::string, std::string, std::less<>> former_names;  // of parameters, `was` -> the name
  bool in_where = false;                                         // inside the condition of a sweep's file, or it failed
  std::set<std::string> pins_used;  // names of EvaluationRequest::pins that the recipe derived
  struct RoleEnvironment {
    EnvironmentLayer contract_clear;
    EnvironmentLayer contract_cleared;   // the same, after the first process has settled it
    EnvironmentLayer contract_common;    // what it sets for the whole role
    EnvironmentLayer contract_defaults;  // its defaults
    EnvironmentLayer role;
    // For the process that is being added.
    RefilledLayer each{Layer::kEach};
    RefilledLayer contract{Layer::kContract};
    RefilledLayer muster_layer{Layer::kMuster};
    MergePrecedent precedent;
  };
  std::vector<RoleEnvironment> role_environments;  // by Plan::roles
  Provenance provenance;
  Origins origins;
};

// The swept names that a plan has read, in the order of their first reads: its result depends on their values
// alone.
struct SweptReads {
  bool tracked = false;                                                      // reads are recorded
  bool paused = false;                                                       // reads do not influence the result now
  const std::map<std::string, std::size_t, std::less<>>* numbers = nullptr;  // of the swept names; with `tracked`
  std::vector<std::size_t> order = {};
  std::vector<bool> seen = {};

  void Begin(const std::map<std::string, std::size_t, std::less<>>& swept);
  void Note(std::string_view name);
  void NoteAll();  // a table of parameters was read as a whole
};

// Also the results of reading the recipe, which stay from plan to plan.
struct Host : PlanDraft {
  const EvaluationRequest* request = nullptr;
  const Ask* ask = nullptr;
  State* state = nullptr;

  // Places are handed to Lua as numbers; 0 is "no place".
  std::vector<Place> places = {Place{}};
  std::map<std::string, std::map<std::uint32_t, int>, std::less<>> place_numbers;  // by file and line
  Place fallback;                  // used if a tail call has removed the user's frame from the stack
  std::vector<std::string> files;  // of the recipe, by the names used for loading
  Diagnostics diagnostics;         // no two are equal, and there are at most kMaxDiagnostics
  std::set<std::string> reported;  // archives of `diagnostics`

  Schema schema;
  std::optional<Diagnostics> schema_problems;  // after loading it
  // Names read from the context module before the recipe's release was known, with their places.
  std::set<std::pair<std::string, int>> touched;

  SweptReads reads;
  // Keys at any depth of the files that were read as values, by the file as shown; a bounded number.
  std::map<std::string, std::vector<std::string>> keys_of_files;

  // Results of running the recipe's own lines: every plan begins with these.
  struct WhenRead {
    Place fallback;
    Diagnostics diagnostics;
    std::set<std::string> reported;
    ShippedFiles shipped_files;
    std::map<std::string, Place> shipped_places;
  } when_read;
  void KeepWhatWasRead();
  void BeginPlan();

  // Interns the place of the nearest frame of a user's file, or `fallback`.
  int Here(lua_State* lua);
  int Interned(std::string_view file, std::uint32_t line);
  Place PlaceOf(int id) const;
  // A path relative to the folder of the recipe that is run, as its files are shown.
  std::string FileBeside(const std::string& path) const;
  // The absolute path of that file for the processes of the job.
  std::string PathBeside(const std::string& path) const;
  void Report(Diagnostic diagnostic);
  void Report(const Diagnostics& more);

  static Host& Of(lua_State* lua);  // from upvalue 1 of the running function
};

// Ends the evaluation after errors have been reported. Does not return.
[[noreturn]] void Stop(lua_State* lua);
// Converts a message of the interpreter, "file:line: text", to a diagnostic at that place if the file is one of
// `files`; else keeps the message, with the place `fallback`.
Diagnostic LocatedError(std::string kind, const std::string& message, const Place& fallback,
                        const std::vector<std::string>& files);

// Reports a text that a plan cannot contain: invalid UTF-8, incomplete placeholders, or a secret where it is not
// allowed or next to other text. `what` names the text.
void CheckPlanText(Host& host, const std::string& text, const std::string& what, const Place& place,
                   bool secret_allowed);

// Whether CheckPlanText could report anything: most texts have neither placeholders nor errors, and need no `what`.
bool NeedsCheck(std::string_view text);

// Where the Lua function at `index` begins; empty for functions of muster.
Place PlaceOfFunction(lua_State* lua, int index);

// The line of a file's own `return`: a call there is a tail call, which has no frame. The return without indentation,
// or, if the whole file is indented, the first one that returns a recipe.
Place PlaceOfReturn(std::string_view text, const std::string& file);

// Whether the error value at `index` is Stop's.
bool IsStop(lua_State* lua, int index);

// Adds host functions to the table on top of the stack.
struct HostFunction {
  const char* name;
  lua_CFunction function;
};
void AddFunctions(lua_State* lua, Host& host, const HostFunction* functions, std::size_t count);

// Fields of Lua tables as values, for host functions that take a table. Missing fields and those of another type are
// read as empty or 0: the values given by recipes have been checked in Lua.

// A field of the table at `table`, on the stack during the lifetime of this object.
class Field {
 public:
  Field(lua_State* lua, int table, const char* key) : lua_(lua) {
    lua_getfield(lua, table, key);
    index_ = lua_gettop(lua);
  }
  Field(lua_State* lua, int table, int position) : lua_(lua) {
    lua_rawgeti(lua, table, position);
    index_ = lua_gettop(lua);
  }
  Field(const Field&) = delete;
  Field& operator=(const Field&) = delete;
  ~Field() { lua_pop(lua_, 1); }

  bool given() const { return !lua_isnil(lua_, index_); }
  bool is_table() const { return lua_istable(lua_, index_); }
  int index() const { return index_; }
  std::string text() const {
    std::string text;
    ToExactText(lua_, index_, text);
    return text;
  }
  double number() const { return lua_tonumber(lua_, index_); }
  bool truth() const { return lua_toboolean(lua_, index_) != 0; }

 private:
  lua_State* lua_;
  int index_ = 0;
};

inline std::string TextField(lua_State* lua, int table, const char* key) { return Field(lua, table, key).text(); }

inline std::uint32_t CountField(lua_State* lua, int table, const char* key) {
  return static_cast<std::uint32_t>(Field(lua, table, key).number());
}

inline Place PlaceField(lua_State* lua, int table, const char* key) {
  return Host::Of(lua).PlaceOf(static_cast<int>(Field(lua, table, key).number()));
}

inline std::vector<std::string> TextList(lua_State* lua, int table) {
  std::vector<std::string> texts;
  const auto count = static_cast<int>(lua_objlen(lua, table));
  texts.reserve(static_cast<std::size_t>(count));
  for (int i = 1; i <= count; ++i) texts.push_back(Field(lua, table, i).text());
  return texts;
}

// Replaces `text` by the text at `index`; empty if there is none.
inline void TextAt(lua_State* lua, int index, std::string& text) {
  if (!ToExactText(lua, index, text)) text.clear();
}

// Reads tables of variables into the layers of an environment. The order in which layers are merged is in
// plan/environment/environment.h.

// The name of a variable at `index`, valid while it is on the stack or until `buffer` changes; a key from lua_next must
// not be converted in place.
inline std::string_view NameAt(lua_State* lua, int index, std::string& buffer) {
  if (lua_type(lua, index) != LUA_TSTRING) {
    ToExactText(lua, index, buffer);
    return buffer;
  }
  std::size_t size = 0;
  const char* name = lua_tolstring(lua, index, &size);
  return {name, size};
}

// Reads the table of variables at `table`: { [name] = { text = …, unset = …, override = …, place = … } }. `variable_of`
// returns the variable for a name.
template <class VariableOf>
void ReadVariables(lua_State* lua, int table, const std::string& what, const VariableOf& variable_of) {
  std::string buffer;
  lua_pushnil(lua);
  while (lua_next(lua, table) != 0) {
    const std::string_view name = NameAt(lua, -2, buffer);
    const int variable = lua_gettop(lua);
    LayerVariable& read = variable_of(name);
    read.place = PlaceField(lua, variable, "place");
    read.override = Field(lua, variable, "override").truth();
    if (Field(lua, variable, "unset").truth()) {
      read.value.reset();
    } else {
      if (!read.value) read.value.emplace();
      TextAt(lua, Field(lua, variable, "text").index(), read.value->marked);
      if (NeedsCheck(read.value->marked)) {
        CheckPlanText(Host::Of(lua), read.value->marked, what + ": " + std::string(name), read.place, true);
      }
    }
    lua_pop(lua, 1);
  }
}

// Reads the texts in the table at field `key` of the table at 1. `text_of` returns the string to fill for a name.
template <class TextOf>
void ReadTexts(lua_State* lua, const char* key, const TextOf& text_of) {
  const Field texts(lua, 1, key);
  if (!texts.is_table()) return;
  std::string buffer;
  lua_pushnil(lua);
  while (lua_next(lua, texts.index()) != 0) {
    TextAt(lua, -1, text_of(NameAt(lua, -2, buffer)));
    lua_pop(lua, 1);
  }
}

}  // namespace muster
