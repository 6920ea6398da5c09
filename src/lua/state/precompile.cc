// precompile ROOT OUTPUT FILE…: compiles Lua files below ROOT to bytecode of the same names below OUTPUT. Run when
// muster is built, on muster's own files only (see lua/state/own_files.h): parsing their text would take a large part
// of the time of a small recipe.
//
// Bytecode fits only the interpreter that made it. Another interpreter refuses it; the text, which is also part of the
// program, is loaded instead (lua/state/own_files.cc).
#include "lua/state/prepare_files.h"

namespace {

int Append(lua_State*, const void* bytes, std::size_t size, void* to) {
  static_cast<std::string*>(to)->append(static_cast<const char*>(bytes), size);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  return muster::ForEachFile(argc, argv, [&](lua_State* lua, const std::string& file) {
    std::string bytecode;
    return lua_dump(lua, Append, &bytecode) == 0 && muster::WritePrepared(argv[2], file, bytecode);
  });
}
