// What the programs of the build have in common that prepare muster's own Lua files (muster_embed's THROUGH): they are
// called as "program ROOT OUTPUT FILE…", with Lua files below ROOT, and write what they make of these below OUTPUT.
#pragma once

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <string>

#include <lua.hpp>

#include "lua/state/stack.h"

namespace muster {

// Empty for a file that cannot be read.
inline std::string TextOfFile(const std::string& root, const std::string& file) {
  std::ifstream in(root + '/' + file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

// Pushes the file as a function; on failure false, with a message on top.
inline bool LoadFile(lua_State* lua, const std::string& root, const std::string& file) {
  const std::string text = TextOfFile(root, file);
  if (!text.empty()) return luaL_loadbufferx(lua, text.data(), text.size(), ('=' + file).c_str(), "t") == 0;
  PushText(lua, "cannot be read");
  return false;
}

// Writes the file below `output`; on failure false, after a message.
inline bool WritePrepared(const std::string& output, const std::string& file, const std::string& bytes) {
  const std::filesystem::path path = output + '/' + file;
  std::filesystem::create_directories(path.parent_path());
  std::ofstream out(path, std::ios::binary);
  out.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  out.close();
  if (!out) std::fprintf(stderr, "%s: cannot be written\n", path.c_str());
  return static_cast<bool>(out);
}

// What is done with a file, which is a function on top of the stack; on failure false, with a message on top
// or printed.
using UseFile = std::function<bool(lua_State* lua, const std::string& file)>;

// Returns the exit code of the program.
inline int ForEachFile(int argc, char** argv, const UseFile& use) {
  if (argc < 4) {
    std::fprintf(stderr, "usage: %s ROOT OUTPUT FILE…\n", argv[0]);
    return 2;
  }
  lua_State* lua = luaL_newstate();
  if (lua == nullptr) return 1;
  luaL_openlibs(lua);
  for (int i = 3; i < argc; ++i) {
    const std::string file = argv[i];
    if (!LoadFile(lua, argv[1], file) || !use(lua, file)) {
      const char* why = lua_tostring(lua, -1);
      std::fprintf(stderr, "%s: %s\n", file.c_str(), why != nullptr ? why : "cannot be prepared");
      return 1;
    }
    lua_settop(lua, 0);
  }
  lua_close(lua);
  return 0;
}

}  // namespace muster
