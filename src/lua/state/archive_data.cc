// archive_data ROOT OUTPUT FILE…: executes Lua files below ROOT that return data, and archives these values under the
// same names below OUTPUT. Run when muster is built, on data that nearly every command needs.
#include "lua/state/prepare_files.h"
#include "wire/archive/value_archive.h"

namespace {

// page(path, environment) -> a file below ROOT as a function with these globals, as in own_data.cc
int Page(lua_State* lua) {
  luaL_checktype(lua, 2, LUA_TTABLE);
  if (!muster::LoadFile(lua, lua_tostring(lua, lua_upvalueindex(1)), luaL_checkstring(lua, 1))) return lua_error(lua);
  lua_pushvalue(lua, 2);
  lua_setfenv(lua, -2);
  return 1;
}

}  // namespace

int main(int argc, char** argv) {
  return muster::ForEachFile(argc, argv, [&](lua_State* lua, const std::string& file) {
    lua_pushstring(lua, argv[1]);
    lua_pushcclosure(lua, Page, 1);
    if (lua_pcall(lua, 1, 1, 0) != 0) return false;
    muster::Value data;
    if (std::string why; !muster::ToValue(lua, -1, data, why)) return muster::PushText(lua, why), false;
    return muster::WritePrepared(argv[2], file, muster::Archived(data));
  });
}
