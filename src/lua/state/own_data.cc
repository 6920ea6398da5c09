#include "lua/state/own_data.h"

#include <algorithm>
#include <cstdlib>
#include <string_view>

#include "lua/state/own_files.h"
#include "lua/state/stack.h"
#include "lua/state/state.h"
#include "wire/archive/value_archive.h"

namespace muster {
namespace {

// Once per process; the evaluator, a separate process, does this itself.
void UseDevelopersFiles() {
  static const bool done = [] {
    if (const char* folder = std::getenv("MUSTER_LUA_PATH"); folder != nullptr) OverrideEmbeddedSources(folder);
    return true;
  }();
  (void)done;
}

struct Loaded {
  Schema schema;
  Diagnostics problems;
};

int LoadOwn(lua_State* lua) {
  auto& loaded = *static_cast<Loaded*>(lua_touserdata(lua, 1));
  loaded.problems = LoadSchemaInto(lua, loaded.schema);
  return 0;
}

std::string MessageOnTop(lua_State* lua) {
  const char* message = lua_tostring(lua, -1);
  return message != nullptr ? message : "it cannot be read";
}

}  // namespace

Result<Schema> OwnSchema() {
  UseDevelopersFiles();
  if (auto schema = EmbeddedSchema()) return *std::move(schema);
  State state({}, nullptr);
  lua_State* lua = state.lua();
  Loaded loaded;
  lua_pushcfunction(lua, Guarded<LoadOwn>);
  lua_pushlightuserdata(lua, &loaded);
  if (lua_pcall(lua, 1, 0, 0) != 0) return Fail(Error("schema", {"lua/muster/schema", 0}, MessageOnTop(lua)));
  if (HasErrors(loaded.problems)) return Fail(std::move(loaded.problems));
  return std::move(loaded.schema);
}

Result<Value> OwnData(const std::string& path) {
  UseDevelopersFiles();
  if (const auto archive = EmbeddedArchive(path)) {
    if (auto value = Unarchived<Value>(*archive)) return *std::move(value);
  }
  const auto bad = [&](const std::string& why) { return Fail(Error("schema", {"lua/" + path, 0}, why)); };
  State state({}, nullptr);
  lua_State* lua = state.lua();
  if (!CallOwnFile(lua, path)) return bad(MessageOnTop(lua));
  Value value;
  std::string why;
  if (!ToValue(lua, -1, value, why)) return bad(why);
  return value;
}

Result<Value> OwnFrameworks() { return OwnData("muster/framework_records.lua"); }

std::optional<std::string> OwnRecipe(const std::string& name) {
  UseDevelopersFiles();
  return EmbeddedSource("muster/recipes/" + name + ".lua");
}

namespace {

// The names of muster's own files of a folder ("muster/recipes/").
std::vector<std::string> NamesIn(std::string_view folder) {
  constexpr std::string_view kEnd = ".lua";
  std::vector<std::string> names;
  for (const EmbeddedFile& file : EmbeddedLua()) {
    if (!file.path.starts_with(folder)) continue;
    const std::string_view name = file.path.substr(folder.size());
    names.emplace_back(name.substr(0, name.size() - kEnd.size()));
  }
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace

std::vector<std::string> OwnRecipeNames() { return NamesIn("muster/recipes/"); }

Result<Value> OwnEngine(const std::string& name) { return OwnData("muster/engines/" + name + ".lua"); }

Result<Value> OwnEngineSigns() { return OwnData("muster/engine_signs.lua"); }

std::vector<std::string> OwnEngineNames() { return NamesIn("muster/engines/"); }

}  // namespace muster
