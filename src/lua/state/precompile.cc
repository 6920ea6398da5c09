// precompile ROOT OUTPUT FILE…: compiles Lua files below ROOT to bytecode of the same names below OUTPUT. Run when
// muster is built, on muster's own files only (see embedded.h): parsing their text would take a large part of the time
// of a small recipe.
//
// Bytecode fits only the interpreter that made it. Another interpreter refuses it; the text, which is also part of the
// program, is loaded instead (own_chunk.cc).
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include <lua.hpp>

namespace {

int Append(lua_State*, const void* bytes, std::size_t size, void* to) {
  static_cast<std::string*>(to)->append(static_cast<const char*>(bytes), size);
  return 0;
}

bool Precompile(lua_State* lua, const std::string& root, const std::string& output, const std::string& file) {
  std::ifstream in(root + '/' + file, std::ios::binary);
  const std::string text(std::istreambuf_iterator<char>(in), {});
  std::string bytecode;
  if (!in || luaL_loadbufferx(lua, text.data(), text.size(), ('=' + file).c_str(), "t") != 0 ||
      lua_dump(lua, Append, &bytecode) != 0) {
    const char* why = lua_tostring(lua, -1);
    std::fprintf(stderr, "%s: %s\n", file.c_str(), why != nullptr ? why : "cannot be read");
    return false;
  }
  lua_pop(lua, 1);
  const std::filesystem::path path = output + '/' + file;
  std::filesystem::create_directories(path.parent_path());
  std::ofstream out(path, std::ios::binary);
  out.write(bytecode.data(), static_cast<std::streamsize>(bytecode.size()));
  out.close();
  if (!out) std::fprintf(stderr, "%s: cannot be written\n", path.c_str());
  return static_cast<bool>(out);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) {
    std::fprintf(stderr, "usage: precompile ROOT OUTPUT FILE…\n");
    return 2;
  }
  lua_State* lua = luaL_newstate();
  bool ok = lua != nullptr;
  for (int i = 3; i < argc && ok; ++i) ok = Precompile(lua, argv[1], argv[2], argv[i]);
  if (lua != nullptr) lua_close(lua);
  return ok ? 0 : 1;
}
