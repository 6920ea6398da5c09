#include "lua/state/own_files.h"

#include <cstdint>
#include <fstream>
#include <iterator>
#include <map>

#include "lua/state/schema_files.h"
#include "lua/state/stack.h"
#include "settings/schema/schema_records.h"

namespace muster {
namespace {

std::map<std::string, std::string>& Overrides() {
  static std::map<std::string, std::string> overrides;
  return overrides;
}

std::optional<std::string_view> In(std::span<const EmbeddedFile> files, std::string_view path) {
  for (const EmbeddedFile& file : files) {
    if (file.path == path) return file.text;
  }
  return std::nullopt;
}

}  // namespace

void OverrideEmbeddedSources(const std::string& folder) {
  for (const EmbeddedFile& file : EmbeddedLua()) {
    std::ifstream stream(folder + "/" + std::string(file.path), std::ios::binary);
    if (!stream) continue;
    Overrides()[std::string(file.path)] = std::string(std::istreambuf_iterator<char>(stream), {});
  }
}

std::optional<std::string> EmbeddedSource(const std::string& path) {
  if (const auto found = Overrides().find(path); found != Overrides().end()) return found->second;
  if (const auto text = In(EmbeddedLua(), path)) return std::string(*text);
  return std::nullopt;
}

std::optional<std::string_view> EmbeddedBytecode(const std::string& path) {
  if (Overrides().contains(path)) return std::nullopt;
  return In(EmbeddedLuaBytecode(), path);
}

std::optional<std::string_view> EmbeddedArchive(const std::string& path) {
  if (!Overrides().empty()) return std::nullopt;  // an archive may be made of several files
  if (const auto schema = In(EmbeddedSchemaArchive(), path)) return schema;
  return In(EmbeddedDataArchives(), path);
}

bool LoadOwnChunk(lua_State* lua, const std::string& path) {
  const std::string name = '=' + path;
  if (const auto bytecode = EmbeddedBytecode(path)) {
    if (luaL_loadbufferx(lua, bytecode->data(), bytecode->size(), name.c_str(), "b") == 0) return true;
    lua_pop(lua, 1);  // made by another interpreter than this one
  }
  const auto text = EmbeddedSource(path);
  if (!text) {
    lua_pushfstring(lua, "%s is not part of the program", path.c_str());
    return false;
  }
  return luaL_loadbufferx(lua, text->data(), text->size(), name.c_str(), "t") == 0;
}

void PushOwnChunk(lua_State* lua, const std::string& path) {
  if (!LoadOwnChunk(lua, path)) lua_error(lua);
}

namespace {

int LoadPage(lua_State* lua) {
  PushOwnChunk(lua, luaL_checkstring(lua, 1));
  if (lua_istable(lua, 2)) {
    lua_pushvalue(lua, 2);
    lua_setfenv(lua, -2);
  }
  return 1;
}

int PushFileText(lua_State* lua) {
  PushText(lua, EmbeddedSource(luaL_checkstring(lua, 1)).value_or(""));
  return 1;
}

}  // namespace

bool CallOwnFile(lua_State* lua, const std::string& path) {
  if (!LoadOwnChunk(lua, path)) return false;
  lua_pushcfunction(lua, LoadPage);
  lua_pushcfunction(lua, PushFileText);
  PushValue(lua, Value(Value::List{}));
  return lua_pcall(lua, 3, 1, 0) == 0;
}

namespace {

// What the file returns when it is executed.
Value RecordsIn(lua_State* lua, const std::string& path) {
  PushOwnChunk(lua, path);
  lua_call(lua, 0, 1);
  Value records;
  std::string why;
  if (!ToValue(lua, -1, records, why)) luaL_error(lua, "%s: %s", path.c_str(), why.c_str());
  lua_pop(lua, 1);
  return records;
}

}  // namespace

std::optional<Schema> EmbeddedSchema() {
  const auto archive = EmbeddedArchive(kSchemaArchive);
  if (!archive) return std::nullopt;
  return SchemaInArchive(*archive);
}

Diagnostics LoadSchemaInto(lua_State* lua, Schema& schema) {
  if (auto embedded = EmbeddedSchema()) return schema = *std::move(embedded), Diagnostics();
  return AddSchemaFiles(schema, [&](const std::string& path) { return RecordsIn(lua, path); });
}

}  // namespace muster
