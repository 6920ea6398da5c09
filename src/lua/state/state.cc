#include "lua/state/state.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <stdexcept>

#include "lua/state/host_function.h"
#include "lua/state/string_library.h"

namespace muster {
namespace {

constexpr int kHookInterval = 10'000;
// Share of the memory limit below which the garbage collector does not run: it would cost more than it frees, and in a
// forked process it would copy each page on which it marks objects.
constexpr std::size_t kSmallShare = 20;
// Garbage that is kept from one evaluation to the next: more does not fit into the processor's cache, where sweeping it
// takes a quarter of the time.
constexpr std::size_t kMostGarbage = 512U << 10;
char kStateKey;  // its address is the registry key

// Base functions that load code, access other environments, or depend on the collector or on chance.
constexpr const char* kRemovedGlobals[] = {"dofile",   "loadfile", "load",           "loadstring", "getfenv", "setfenv",
                                           "newproxy", "gcinfo",   "collectgarbage", "module",     "require", "print"};
constexpr const char* kRemovedFromMath[] = {"random", "randomseed"};
// foreach and foreachi iterate in hash order; getn and setn are obsolete.
constexpr const char* kRemovedFromTable[] = {"foreach", "foreachi", "getn", "setn"};

void Open(lua_State* lua, const char* name, lua_CFunction open) {
  lua_pushcfunction(lua, open);
  lua_pushstring(lua, name);
  lua_call(lua, 1, 0);
}

template <std::size_t N>
void Remove(lua_State* lua, const char* library, const char* const (&names)[N]) {
  lua_getglobal(lua, library);
  for (const char* name : names) {
    lua_pushnil(lua);
    lua_setfield(lua, -2, name);
  }
  lua_pop(lua, 1);
}

// An error outside of any call: the process exits after this.
int Panic(lua_State* lua) {
  const char* what = lua_tostring(lua, -1);
  std::fprintf(stderr, "the interpreter failed: %s\n", what == nullptr ? "no message" : what);
  return 0;
}

int OpenLibraries(lua_State* lua) {
  Open(lua, "", luaopen_base);
  Open(lua, LUA_TABLIBNAME, luaopen_table);
  Open(lua, LUA_STRLIBNAME, luaopen_string);
  Open(lua, LUA_MATHLIBNAME, luaopen_math);
  Remove(lua, "_G", kRemovedGlobals);
  Remove(lua, LUA_MATHLIBNAME, kRemovedFromMath);
  Remove(lua, LUA_TABLIBNAME, kRemovedFromTable);
  GuardStringLibrary(lua);
  return 0;
}

}  // namespace

void* State::Allocate(void* self, void* block, std::size_t old_size, std::size_t new_size) {
  auto& state = *static_cast<State*>(self);
  if (block == nullptr) old_size = 0;
  if (new_size > old_size && state.used_ + (new_size - old_size) > state.limits_.memory_bytes) {
    state.out_of_memory_ = true;
    return nullptr;
  }
  void* const moved = state.memory_.Resize(block, old_size, new_size);
  if (moved != nullptr || new_size == 0) state.used_ = state.used_ - old_size + new_size;
  if (state.collector_rests_ && state.used_ > state.limits_.memory_bytes / kSmallShare) {
    state.collector_rests_ = false;
    // Only sets when collection starts, with -1 as after a collection: once the memory has doubled. Frees nothing here.
    lua_gc(state.lua_, LUA_GCRESTART, -1);
  }
  return moved;
}

State::State(const StateLimits& limits, LastPlace* last_place) : limits_(limits), last_place_(last_place) {
  lua_ = lua_newstate(Allocate, this);
  if (lua_ == nullptr)
    throw std::runtime_error("LuaJIT refuses an allocator: it must have been built with GC64, its default");
  lua_atpanic(lua_, Panic);
  LetCollectorRest();
  lua_pushlightuserdata(lua_, &kStateKey);
  lua_pushlightuserdata(lua_, this);
  lua_rawset(lua_, LUA_REGISTRYINDEX);
  lua_pushcfunction(lua_, OpenLibraries);
  lua_call(lua_, 0, 0);
  lua_sethook(lua_, CountHook, LUA_MASKCOUNT, kHookInterval);
}

// Runs no code of the recipe: its tables have no finalizers (__gc is for userdata only), and it has no userdata.
State::~State() {
  lua_sethook(lua_, nullptr, 0, 0);
  lua_close(lua_);
}

void State::BeginAgain() {
  instructions_ = 0;
  // The interpreter does not collect when an allocation is refused.
  if (used_ > kept_ + kMostGarbage) {
    lua_gc(lua_, LUA_GCCOLLECT, 0);
    LetCollectorRest();
  }
}

void State::LetCollectorRest() {
  kept_ = used_;
  collector_rests_ = used_ <= limits_.memory_bytes / kSmallShare;
  if (collector_rests_) lua_gc(lua_, LUA_GCSTOP, 0);
}

State& State::Of(lua_State* lua) {
  lua_pushlightuserdata(lua, &kStateKey);
  lua_rawget(lua, LUA_REGISTRYINDEX);
  auto* state = static_cast<State*>(lua_touserdata(lua, -1));
  lua_pop(lua, 1);
  return *state;
}

void State::CountHook(lua_State* lua, lua_Debug*) {
  State& state = Of(lua);
  state.instructions_ += kHookInterval;
  state.Here(lua);
  if (state.instructions_ < state.limits_.instructions) return;
  state.out_of_instructions_ = true;
  // From now on every instruction fails, so no pcall can catch the limit.
  lua_sethook(lua, CountHook, LUA_MASKCOUNT, 1);
  luaL_error(lua, "%s", state.InstructionsText().c_str());
}

std::string State::InstructionsText() const {
  return "the recipe did not finish within " + std::to_string(limits_.instructions / 1'000'000) +
         " million instructions";
}

State::Frame State::Here(lua_State* lua) {
  lua_Debug frame;
  for (int level = 0; lua_getstack(lua, level, &frame) != 0; ++level) {
    lua_getinfo(lua, "S", &frame);
    if (std::string_view(frame.source) == kFileBarrier) return {};
    if (frame.source[0] != '@') continue;
    lua_getinfo(lua, "l", &frame);
    if (frame.currentline < 1) continue;
    const Frame here{frame.source + 1, static_cast<std::uint32_t>(frame.currentline)};
    if (last_place_ != nullptr) last_place_->Note(here.file, here.line);
    return here;
  }
  return {};
}

}  // namespace muster
