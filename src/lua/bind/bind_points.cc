// Host functions for judging the points of a sweep: which parameters a plan reads, the result of a condition, and the
// line that gave it.
#include <iterator>
#include <string>

#include "lua/bind/bind.h"
#include "lua/host/host.h"
#include "lua/state/host_function.h"
#include "lua/state/stack.h"

namespace muster {
namespace {

// tracks() -> whether reads are recorded
int Tracks(lua_State* lua) {
  lua_pushboolean(lua, Host::Of(lua).reads.tracked ? 1 : 0);
  return 1;
}

// read(name): a parameter's value was read
int Read(lua_State* lua) {
  std::size_t size = 0;
  const char* name = lua_tolstring(lua, 1, &size);
  if (name != nullptr) Host::Of(lua).reads.Note({name, size});
  return 0;
}

int ReadAll(lua_State* lua) {
  Host::Of(lua).reads.NoteAll();
  return 0;
}

// pause_reads(paused)
int PauseReads(lua_State* lua) {
  Host::Of(lua).reads.paused = lua_toboolean(lua, 1) != 0;
  return 0;
}

// The last line that the running condition reached. An evaluator has one thread, and hooks have no argument.
struct LineWatch {
  lua_Hook counts = nullptr;  // the state's own
  std::string source;
  int first = 0;
  int last = 0;
  int reached = 0;
};
LineWatch* watch = nullptr;

void OnLine(lua_State* lua, lua_Debug* debug) {
  if (debug->event != LUA_HOOKLINE) {
    if (watch != nullptr && watch->counts != nullptr) watch->counts(lua, debug);
    return;
  }
  if (watch == nullptr || debug->currentline < watch->first || debug->currentline > watch->last) return;
  lua_getinfo(lua, "S", debug);
  if (watch->source == debug->source) watch->reached = debug->currentline;
}

// call_where(function, p, d) -> whether it holds, the reason if not, the place of its last line
int CallWhere(lua_State* lua) {
  Host& host = Host::Of(lua);
  lua_settop(lua, 3);
  lua_Debug about{};
  lua_pushvalue(lua, 1);
  lua_getinfo(lua, ">S", &about);
  LineWatch own;
  own.counts = lua_gethook(lua);
  own.source = about.source;
  own.first = about.linedefined;
  own.last = about.lastlinedefined;
  own.reached = about.linedefined;
  // However the call ends; except if the state has installed its own hook because a limit is reached.
  struct Watched {
    lua_State* lua;
    lua_Hook counts;
    int mask;
    int interval;
    ~Watched() {
      watch = nullptr;
      if (lua_gethook(lua) == OnLine) lua_sethook(lua, counts, mask, interval);
    }
  } watched{lua, own.counts, lua_gethookmask(lua), lua_gethookcount(lua)};
  watch = &own;
  lua_sethook(lua, OnLine, watched.mask | LUA_MASKLINE, watched.interval);
  host.in_where = true;
  lua_call(lua, 2, 2);
  host.in_where = false;
  const bool holds = lua_toboolean(lua, 1) != 0;
  lua_pushboolean(lua, holds ? 1 : 0);
  lua_pushvalue(lua, 2);
  const bool of_file = !own.source.empty() && own.source.front() == '@' && own.reached > 0;
  lua_pushinteger(lua, of_file ? host.Interned(own.source.substr(1), static_cast<std::uint32_t>(own.reached)) : 0);
  return 3;
}

constexpr HostFunction kPointsFunctions[] = {
    {"tracks", Guarded<Tracks>},        {"read", Guarded<Read>},
    {"read_all", Guarded<ReadAll>},     {"pause_reads", Guarded<PauseReads>},
    {"call_where", Guarded<CallWhere>},
};

}  // namespace

void BindPoints(lua_State* lua, Host& host) { AddFunctions(lua, host, kPointsFunctions, std::size(kPointsFunctions)); }

}  // namespace muster
