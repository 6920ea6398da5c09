// A restricted Lua state for recipes: interpreter only, a few libraries, limited memory and instructions, no way to
// load code, read files or get the time. Independent of recipes. What it cannot limit is limited from outside: C
// functions of the string library (no hook is called inside them), and crashes of the interpreter itself.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <new>
#include <string>
#include <string_view>

#include <boost/pool/pool.hpp>
#include <lua.hpp>

#include "evaluation/exchange/limits.h"
#include "muster/diagnostic.h"

namespace muster {

// Makes a C++ function callable from Lua: converts exceptions to Lua errors. A Lua error itself passes through as a
// foreign exception; destructors run in both cases.

template <int (*Function)(lua_State*)>
int Guarded(lua_State* lua) {
  try {
    return Function(lua);
  } catch (const std::bad_alloc&) {
    lua_pushliteral(lua, "the plan's values take more memory than an evaluation may use");
  } catch (const std::exception& exception) {
    lua_pushstring(lua, exception.what());
  }
  return lua_error(lua);
}

// The memory of an interpreter: small blocks come from pools, each of blocks of one size, which are freed as a whole
// with the object; others come from malloc. Lua passes the size of what it frees, so blocks have no header.
//
// The pools take their memory from malloc in growing pieces. Those of the interpreter's own allocator, 128 KiB, are too
// small for huge pages (SpawnEvaluator); malloc alone takes a quarter longer for thousands of evaluations.
class LuaMemory {
 public:
  // As lua_Alloc (the reference manual of Lua 5.1): frees `block` if `new_size` is 0, which returns null; returns null
  // and keeps `block` if there is no memory. `old_size` is 0 without a block.
  void* Resize(void* block, std::size_t old_size, std::size_t new_size);

 private:
  static constexpr std::size_t kUnit = 16;
  static constexpr std::size_t kMaxUnits = 32;
  using Pool = boost::pool<boost::default_user_allocator_malloc_free>;

  static bool IsSmall(std::size_t size) { return size <= kUnit * kMaxUnits; }
  static std::size_t Units(std::size_t size) { return (size + kUnit - 1) / kUnit; }
  Pool& PoolOf(std::size_t size);
  void* Get(std::size_t size);
  void Free(void* block, std::size_t size);

  std::array<std::unique_ptr<Pool>, kMaxUnits> pools_;
};

// A restricted Lua state for recipes: interpreter only, a few libraries, limited memory and instructions, no way to
// load code, read files or get the time. Independent of recipes.
//
// What it cannot limit is limited from outside: C functions of the string library (no hook is called inside them), and
// crashes of the interpreter itself. For these the last place is recorded in a shared page.

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
  // LuaMemory, or the interpreter's own, with a limit.
  static void* Allocate(void* self, void* block, std::size_t old_size, std::size_t new_size);
  static void CountHook(lua_State* lua, lua_Debug* debug);
  // Stops the collector while the recipe uses little of its memory limit.
  void LetCollectorRest();

  StateLimits limits_;
  LastPlace* last_place_;
  LuaMemory memory_;
  lua_Alloc own_allocator_ = nullptr;  // instead of memory_, where that has addresses that LuaJIT cannot keep
  void* own_memory_ = nullptr;
  lua_State* lua_ = nullptr;
  std::size_t used_ = 0;
  std::size_t kept_ = 0;  // of used_, after the last collection
  bool collector_rests_ = false;
  std::uint64_t instructions_ = 0;
  bool out_of_instructions_ = false;
  bool out_of_memory_ = false;
};

// The string library of recipes: functions that can run for ever or use much memory in one call first record their
// caller's place; string.rep and string.format have limits; numbers are printed exactly.

// Changes the string library of the state, and protects the metatable of strings.
void GuardStringLibrary(lua_State* lua);

// tostring() of recipes: numbers are written exactly.
int ExactToString(lua_State* lua);

}  // namespace muster
