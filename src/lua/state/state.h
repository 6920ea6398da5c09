// A restricted Lua state for recipes: interpreter only, a few libraries, limited memory and instructions, no way to
// load code, read files or get the time. Independent of recipes.
//
// What it cannot limit is limited from outside: C functions of the string library (no hook is called inside them), and
// crashes of the interpreter itself. For these the last place is recorded in a shared page.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include <lua.hpp>

#include "evaluation/exchange/last_place.h"
#include "evaluation/exchange/limits.h"
#include "lua/state/lua_memory.h"
#include "muster/diagnostic.h"

namespace muster {

// The name of the chunk that runs a file: errors in a tail call of the file are not reported at its caller.
inline constexpr std::string_view kFileBarrier = "=a file of the recipe";

class State {
 public:
  State(const StateLimits& limits, LastPlace* last_place);
  State(const State&) = delete;
  State& operator=(const State&) = delete;
  ~State();

  lua_State* lua() const { return lua_; }
  // See the constructor.
  void NoteAt(LastPlace* last_place) { last_place_ = last_place; }
  // Resets the instruction count, and collects garbage if there is more than a little.
  void BeginAgain();
  // Whether the instruction limit ended the evaluation.
  bool out_of_instructions() const { return out_of_instructions_; }
  bool out_of_memory() const { return out_of_memory_; }
  // The message for the instruction limit.
  std::string InstructionsText() const;

  // The nearest frame of a user's file (its chunk name starts with '@'), recorded in the shared page. The name is valid
  // as long as the frame; it is empty if there is no such frame above a chunk named kFileBarrier.
  struct Frame {
    std::string_view file;
    std::uint32_t line = 0;
  };
  Frame Here(lua_State* lua);

  // The state that owns `lua` or one of its coroutines.
  static State& Of(lua_State* lua);

 private:
  // LuaMemory with a limit.
  static void* Allocate(void* self, void* block, std::size_t old_size, std::size_t new_size);
  static void CountHook(lua_State* lua, lua_Debug* debug);
  // Stops the collector while the recipe uses little of its memory limit.
  void LetCollectorRest();

  StateLimits limits_;
  LastPlace* last_place_;
  LuaMemory memory_;
  lua_State* lua_ = nullptr;
  std::size_t used_ = 0;
  std::size_t kept_ = 0;  // of used_, after the last collection
  bool collector_rests_ = false;
  std::uint64_t instructions_ = 0;
  bool out_of_instructions_ = false;
  bool out_of_memory_ = false;
};

}  // namespace muster
