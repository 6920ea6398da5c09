#include "lua/state/state.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <stdexcept>

#include "lua/state/stack.h"

namespace muster {

void* LuaMemory::Resize(void* block, std::size_t old_size, std::size_t new_size) {
  if (new_size == 0) {
    if (block != nullptr) Free(block, old_size);
    return nullptr;
  }
  if (block == nullptr) return Get(new_size);
  if (!IsSmall(old_size) && !IsSmall(new_size)) return std::realloc(block, new_size);
  if (IsSmall(old_size) && Units(old_size) == Units(new_size)) return block;
  void* const moved = Get(new_size);
  if (moved == nullptr) return nullptr;
  std::memcpy(moved, block, std::min(old_size, new_size));
  Free(block, old_size);
  return moved;
}

LuaMemory::Pool& LuaMemory::PoolOf(std::size_t size) {
  std::unique_ptr<Pool>& pool = pools_[Units(size) - 1];
  if (!pool) pool = std::make_unique<Pool>(Units(size) * kUnit);
  return *pool;
}

void* LuaMemory::Get(std::size_t size) { return IsSmall(size) ? PoolOf(size).malloc() : std::malloc(size); }

void LuaMemory::Free(void* block, std::size_t size) {
  if (IsSmall(size)) {
    PoolOf(size).free(block);
  } else {
    std::free(block);
  }
}

namespace {

// LuaJIT keeps 47 bits of an address. malloc's addresses have 48 on aarch64, where only the interpreter's own allocator
// asks the kernel for lower ones.
#ifdef __aarch64__
constexpr bool kHighAddresses = true;
#else
constexpr bool kHighAddresses = false;
#endif
constexpr int kHookInterval = 10'000;
// Share of the memory limit below which the garbage collector does not run: it would cost more than it frees, and in a
// forked process it would copy each page on which it marks objects.
constexpr std::size_t kSmallShare = 20;
// Garbage that is kept from one evaluation to the next: more does not fit into the processor's cache, where sweeping it
// takes a quarter of the time.
constexpr std::size_t kMaxGarbage = 512U << 10;
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
  void* const moved = state.own_allocator_ != nullptr
                          ? state.own_allocator_(state.own_memory_, block, old_size, new_size)
                          : state.memory_.Resize(block, old_size, new_size);
  if (moved != nullptr || new_size == 0) state.used_ = state.used_ - old_size + new_size;
  if (state.collector_rests_ && state.used_ > state.limits_.memory_bytes / kSmallShare) {
    state.collector_rests_ = false;
    // Only sets when collection starts, with -1 as after a collection: once the memory has doubled. Frees nothing here.
    lua_gc(state.lua_, LUA_GCRESTART, -1);
  }
  return moved;
}

State::State(const StateLimits& limits, LastPlace* last_place) : limits_(limits), last_place_(last_place) {
  if constexpr (kHighAddresses) {
    lua_ = luaL_newstate();
    if (lua_ == nullptr) throw std::runtime_error("LuaJIT finds no memory below 128 TiB");
    own_allocator_ = lua_getallocf(lua_, &own_memory_);
    lua_setallocf(lua_, Allocate, this);
    used_ = static_cast<std::size_t>(lua_gc(lua_, LUA_GCCOUNT, 0)) << 10;
  } else {
    lua_ = lua_newstate(Allocate, this);
    if (lua_ == nullptr)
      throw std::runtime_error("LuaJIT refuses an allocator: it must have been built with GC64, its default");
  }
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
  if (own_allocator_ != nullptr) lua_setallocf(lua_, own_allocator_, own_memory_);  // which frees itself, too
  lua_close(lua_);
}

void State::BeginAgain() {
  instructions_ = 0;
  // The interpreter does not collect when an allocation is refused.
  if (used_ > kept_ + kMaxGarbage) {
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

namespace {

constexpr double kMaxString = 64.0 * (1 << 20);

// Upvalue 1 is the original, upvalue 2 its name. No hook is called inside it, so the place is recorded in case the
// evaluator must be killed while it runs.
int NotedCall(lua_State* lua) {
  State::Of(lua).Here(lua);
  const int arguments = lua_gettop(lua);
  lua_pushvalue(lua, lua_upvalueindex(1));
  lua_insert(lua, 1);
  if (lua_pcall(lua, arguments, LUA_MULTRET, 0) == 0) return lua_gettop(lua);
  // Called from here, the original does not know its name: "bad argument #1 to '?'".
  std::string message;
  constexpr std::string_view kNameless = "bad argument #";
  if (lua_type(lua, -1) == LUA_TSTRING && ToExactText(lua, -1, message) && message.starts_with(kNameless)) {
    const std::size_t mark = message.find("'?'");
    if (mark != std::string::npos) message.replace(mark + 1, 1, lua_tostring(lua, lua_upvalueindex(2)));
    PushText(lua, message);
  }
  return lua_error(lua);
}

int BoundedRep(lua_State* lua) {
  std::size_t size = 0;
  luaL_checklstring(lua, 1, &size);
  const double count = luaL_checknumber(lua, 2);
  std::size_t separator = 0;
  if (!lua_isnoneornil(lua, 3)) luaL_checklstring(lua, 3, &separator);
  if (count > 0 && static_cast<double>(size + separator) * count > kMaxString) {
    return luaL_error(lua, "string.rep would make more than 64 MiB");
  }
  return NotedCall(lua);
}

// Replaces what %s would print with 14 digits, or with an address that differs from run to run, by its exact
// text.
int ExactFormat(lua_State* lua) {
  std::size_t size = 0;
  const char* format = luaL_checklstring(lua, 1, &size);
  int argument = 1;
  for (std::size_t i = 0; i < size; ++i) {
    if (format[i] != '%') continue;
    if (++i < size && format[i] == '%') continue;
    while (i < size && std::strchr("-+ #0123456789.", format[i]) != nullptr && format[i] != '\0') ++i;
    ++argument;
    if (i >= size) break;
    if (format[i] == 'p') return luaL_error(lua, "string.format does not offer %%p: addresses differ from run to run");
    if (format[i] != 's' || argument > lua_gettop(lua) || lua_type(lua, argument) == LUA_TSTRING) continue;
    lua_pushcfunction(lua, Guarded<ExactToString>);
    lua_pushvalue(lua, argument);
    lua_call(lua, 1, 1);
    if (lua_type(lua, -1) != LUA_TSTRING) return luaL_error(lua, "__tostring gave a %s", luaL_typename(lua, -1));
    lua_replace(lua, argument);
  }
  return NotedCall(lua);
}

void Wrap(lua_State* lua, const char* name, lua_CFunction wrapper) {
  lua_getfield(lua, -1, name);
  lua_pushstring(lua, name);
  lua_pushcclosure(lua, wrapper, 2);
  lua_setfield(lua, -2, name);
}

}  // namespace

int ExactToString(lua_State* lua) {
  std::string text;
  if (ToExactText(lua, 1, text)) {
    PushText(lua, text);
    return 1;
  }
  luaL_checkany(lua, 1);
  if (IsNull(lua, 1)) {
    lua_pushliteral(lua, "null");
    return 1;
  }
  if (luaL_callmeta(lua, 1, "__tostring") != 0) return 1;
  switch (lua_type(lua, 1)) {
    case LUA_TNIL:
      lua_pushliteral(lua, "nil");
      break;
    case LUA_TBOOLEAN:
      lua_pushstring(lua, lua_toboolean(lua, 1) != 0 ? "true" : "false");
      break;
    // Addresses differ from run to run, so they are not shown.
    default:
      lua_pushstring(lua, luaL_typename(lua, 1));
      break;
  }
  return 1;
}

void GuardStringLibrary(lua_State* lua) {
  lua_getglobal(lua, LUA_STRLIBNAME);
  for (const char* name : {"find", "match", "gmatch", "gsub"}) Wrap(lua, name, Guarded<NotedCall>);
  Wrap(lua, "rep", Guarded<BoundedRep>);
  Wrap(lua, "format", Guarded<ExactFormat>);
  lua_pushnil(lua);
  lua_setfield(lua, -2, "dump");
  // The metatable of strings: ("x"):rep() calls the guarded functions, and recipes cannot access the metatable.
  lua_pushliteral(lua, "");
  lua_getmetatable(lua, -1);
  lua_pushvalue(lua, -3);
  lua_setfield(lua, -2, "__index");
  lua_pushboolean(lua, 0);
  lua_setfield(lua, -2, "__metatable");
  lua_pop(lua, 3);
}

}  // namespace muster
