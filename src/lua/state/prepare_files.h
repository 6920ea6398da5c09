// What the programs of the build have in common that prepare muster's own Lua files (muster_embed's THROUGH): for each
// file, other bytes of the same name below another folder.
#pragma once

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <string>

#include <lua.hpp>

namespace muster {

// What becomes of the file whose compiled chunk is on top of the stack; on failure false, with a message on top.
using PrepareFile = std::function<bool(lua_State* lua, std::string& prepared)>;

// The arguments are ROOT OUTPUT FILE…; returns the exit code of the program.
inline int PrepareFiles(int argc, char** argv, const PrepareFile& prepare) {
  if (argc < 3) {
    std::fprintf(stderr, "usage: %s ROOT OUTPUT FILE…\n", argv[0]);
    return 2;
  }
  lua_State* lua = luaL_newstate();
  if (lua == nullptr) return 1;
  for (int i = 3; i < argc; ++i) {
    const std::string file = argv[i];
    std::ifstream in(std::string(argv[1]) + '/' + file, std::ios::binary);
    const std::string text(std::istreambuf_iterator<char>(in), {});
    std::string prepared;
    if (!in || luaL_loadbufferx(lua, text.data(), text.size(), ('=' + file).c_str(), "t") != 0 ||
        !prepare(lua, prepared)) {
      const char* why = lua_tostring(lua, -1);
      std::fprintf(stderr, "%s: %s\n", file.c_str(), why != nullptr ? why : "cannot be read");
      return 1;
    }
    lua_settop(lua, 0);
    const std::filesystem::path path = std::string(argv[2]) + '/' + file;
    std::filesystem::create_directories(path.parent_path());
    std::ofstream out(path, std::ios::binary);
    out.write(prepared.data(), static_cast<std::streamsize>(prepared.size()));
    out.close();
    if (!out) {
      std::fprintf(stderr, "%s: cannot be written\n", path.c_str());
      return 1;
    }
  }
  lua_close(lua);
  return 0;
}

}  // namespace muster
