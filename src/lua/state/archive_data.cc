// archive_data ROOT OUTPUT FILE…: executes Lua files below ROOT that return data, and archives these values under the
// same names below OUTPUT. Run when muster is built, on data that nearly every command needs.
#include "lua/state/prepare_files.h"
#include "wire/archive/value_archive.h"

namespace {

// What CallOwnFile gives a file, too (lua/state/own_files.h).

// page(path, environment) -> a file below ROOT as a function with these globals
int Page(lua_State* lua) {
  if (!muster::LoadFile(lua, lua_tostring(lua, lua_upvalueindex(1)), luaL_checkstring(lua, 1))) return lua_error(lua);
  if (lua_istable(lua, 2)) {
    lua_pushvalue(lua, 2);
    lua_setfenv(lua, -2);
  }
  return 1;
}

// text(path) -> the text of a file below ROOT
int Text(lua_State* lua) {
  muster::PushText(lua, muster::TextOfFile(lua_tostring(lua, lua_upvalueindex(1)), luaL_checkstring(lua, 1)));
  return 1;
}

}  // namespace

int main(int argc, char** argv) {
  return muster::ForEachFile(argc, argv, [&](lua_State* lua, const std::string& file) {
    for (const lua_CFunction reads : {Page, Text}) {
      lua_pushstring(lua, argv[1]);
      lua_pushcclosure(lua, reads, 1);
    }
    muster::PushValue(lua, muster::Value(muster::Value::List{}));
    if (lua_pcall(lua, 3, 1, 0) != 0) return false;
    muster::Value data;
    if (std::string why; !muster::ToValue(lua, -1, data, why)) return muster::PushText(lua, why), false;
    return muster::WritePrepared(argv[2], file, muster::Archived(data));
  });
}
