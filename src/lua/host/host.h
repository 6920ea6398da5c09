// The host of an interpreter: what the functions that Lua calls (bind_*.cc) work on. Collects diagnostics,
// contexts and the plan in the making. Knows Lua only through the state that it belongs to.
#pragma once

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
#include "lua/state/state.h"
#include "muster/mindspore/context.h"
#include "muster/mindspore/schema.h"
#include "plan/environment/merge_precedent.h"
#include "plan/environment/refilled_layer.h"
#include "plan/hosts/mesh.h"
#include "plan/hosts/topology.h"

namespace muster {

// What one plan is made in.
struct PlanDraft {
  std::optional<Context> context;               // once the recipe has named its release
  bool planning = false;                        // inside the plan function: context calls are allowed
  ShippedFiles shipped_files;                   // of muster.file, by the text that names them
  std::map<std::string, Place> shipped_places;  // the same by path below files/: where they were named
  // One overlay per process whose `each` called the context; a deque, because overlays do not move.
  std::deque<Context> overlays;
  std::map<std::string, Context*> overlay_of;            // "worker.2"
  std::string current_process;                           // inside `each`
  std::map<std::string, std::uint32_t> visible_devices;  // of processes that have any: how many they can see

  std::vector<Mesh> meshes;
  EnvironmentLayer job_env;
  Plan plan;
  std::set<std::string> pins_used;  // names of EvaluationRequest::pins that the recipe derived
  struct RoleEnvironment {
    EnvironmentLayer contract_clear;
    EnvironmentLayer contract_cleared;   // the same, once the first process has settled it
    EnvironmentLayer contract_common;    // what it sets for all of the role
    EnvironmentLayer contract_defaults;  // what it suggests
    EnvironmentLayer role;
    // Of the process that is being added.
    RefilledLayer each{Layer::kEach};
    RefilledLayer contract{Layer::kContract};
    RefilledLayer musters{Layer::kMuster};
    MergePrecedent precedent;
  };
  std::vector<RoleEnvironment> role_environments;  // by Plan::roles
  Provenance provenance;
  Origins origins;
};

// Which of the swept names a plan looked at, in the order in which it first did: what it comes to then follows from
// their values alone.
struct SweptReads {
  bool tracked = false;                                                      // points are judged
  bool paused = false;                                                       // what is read now decides nothing
  const std::map<std::string, std::size_t, std::less<>>* numbers = nullptr;  // of the swept names; with `tracked`
  std::vector<std::size_t> order = {};
  std::vector<bool> seen = {};

  void Begin(const std::map<std::string, std::size_t, std::less<>>& swept);
  void Note(std::string_view name);
  void NoteAll();  // a table of parameters was looked at as a whole
};

// Besides, what reading the recipe made: it stays from plan to plan.
struct Host : PlanDraft {
  const EvaluationRequest* request = nullptr;
  const Ask* ask = nullptr;
  State* state = nullptr;

  // Places are handed to Lua as numbers; 0 is "no place".
  std::vector<Place> places = {Place{}};
  std::map<std::string, std::map<std::uint32_t, int>, std::less<>> place_numbers;  // by file and line
  Place fallback;                  // for when a tail call has taken the user's frame off the stack
  std::vector<std::string> files;  // of the recipe, as they were named when they were loaded
  Diagnostics diagnostics;         // no two are equal, and there are at most kMaxDiagnostics
  std::set<std::string> reported;  // archives of `diagnostics`

  Schema schema;
  std::optional<Diagnostics> schema_problems;  // once it is there
  // Names of the context module that were taken before the recipe's release was known, and where.
  std::set<std::pair<std::string, int>> touched;

  SweptReads reads;

  // Of the recipe's own text: every plan begins with these.
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
  // A path below the folder of the recipe that is run, as its files are shown.
  std::string FileBeside(const std::string& path) const;
  // The absolute path of what lies there for the processes of the job.
  std::string PathBeside(const std::string& path) const;
  void Report(Diagnostic diagnostic);
  void Report(const Diagnostics& more);

  static Host& Of(lua_State* lua);  // from upvalue 1 of the running function
};

// Ends the evaluation: the diagnostics are already reported. Does not return.
[[noreturn]] void Stop(lua_State* lua);
// A message of the interpreter, "file:line: text", as a diagnostic at that place if it is one of `files`; else
// the message as it is, at `fallback`.
Diagnostic LocatedError(std::string kind, const std::string& message, const Place& fallback,
                        const std::vector<std::string>& files);

// Reports a text that cannot be part of a plan: bytes that are no UTF-8, holes that are not whole, a secret where there
// must be none or beside something else. `what` names it.
void CheckPlanText(Host& host, const std::string& text, const std::string& what, const Place& place,
                   bool secret_allowed);

// Whether CheckPlanText could find anything: most texts are neither holes nor broken, and need no `what`.
bool NeedsCheck(std::string_view text);

// Where the Lua function at `index` begins; nowhere for functions that are not the user's.
Place PlaceOfFunction(lua_State* lua, int index);

// The line of a file's own `return`: what is called there is a tail call, so no frame tells it. At the margin, or,
// where somebody indents whole files, the first that returns a recipe.
Place PlaceOfReturn(std::string_view text, const std::string& file);

// Whether the error value at `index` is Stop's.
bool IsStop(lua_State* lua, int index);

// Adds host functions to the table on top of the stack.
struct HostFunction {
  const char* name;
  lua_CFunction function;
};
void AddFunctions(lua_State* lua, Host& host, const HostFunction* functions, std::size_t count);

}  // namespace muster
