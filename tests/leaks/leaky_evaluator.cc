// An evaluator whose interpreter has a clock. The prelude decides whether recipes can see it (MUSTER_LUA_PATH).
#include <cstring>
#include <ctime>

#include <lua.hpp>

#include "evaluator/child.h"

namespace {

int Clock(lua_State* lua) {
  lua_pushnumber(lua, static_cast<lua_Number>(std::time(nullptr)));
  return 1;
}

int OpenClock(lua_State* lua) {
  lua_register(lua, "clock", Clock);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2 || std::strcmp(argv[1], muster::kEvaluatorArgument) != 0) return 2;
  muster::EvaluatorMain(OpenClock);
}
