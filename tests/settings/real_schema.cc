#include "settings/real_schema.h"

#include <memory>

#include <gtest/gtest.h>
#include <lua.hpp>

#include "lua/state/stack.h"
#include "support/places.h"

namespace muster {

Value SchemaFile(const std::string& file) {
  const std::unique_ptr<lua_State, decltype(&lua_close)> lua(luaL_newstate(), &lua_close);
  const std::string path = std::string(MUSTER_SOURCE_DIR) + "/lua/muster/schema/" + file + ".lua";
  Value value;
  std::string why;
  if (luaL_dofile(lua.get(), path.c_str())) {
    ADD_FAILURE() << lua_tostring(lua.get(), -1);
  } else if (!ToValue(lua.get(), -1, value, why)) {
    ADD_FAILURE() << path << ": " << why;
  }
  return value;
}

const Schema& RealSchema() {
  static const Schema schema = [] {
    Schema read;
    Diagnostics problems = read.AddReleases(SchemaFile("releases"), {"releases.lua", 0});
    const std::pair<const char*, const char*> files[] = {{"set_context", "context"},
                                                         {"set_context", "context_old"},
                                                         {"set_context", "context_native"},
                                                         {"set_context", "device_config"},
                                                         {"set_auto_parallel_context", "auto_parallel"},
                                                         {"set_auto_parallel_context", "parallel_config"},
                                                         {"set_ps_context", "ps"}};
    for (const auto& [api, file] : files) {
      for (Diagnostic& problem : read.Add(api, SchemaFile(file), {std::string(file) + ".lua", 0})) {
        problems.push_back(std::move(problem));
      }
    }
    for (const char* file : {"functions", "parallel"}) {
      for (Diagnostic& problem : read.AddFunctions(SchemaFile(file), {std::string(file) + ".lua", 0})) {
        problems.push_back(std::move(problem));
      }
    }
    for (Diagnostic& problem : read.AddFiles(SchemaFile("files"), {"files.lua", 0})) {
      problems.push_back(std::move(problem));
    }
    for (Diagnostic& problem : read.AddRules(SchemaFile("rules"), {"rules.lua", 0})) problems.push_back(problem);
    for (const Diagnostic& problem : problems)
      ADD_FAILURE() << problem.place.file << ": " << problem.message << " " << problem.hint;
    return read;
  }();
  return schema;
}

Release Release16() { return {1, 6, 2, Release::kFinal}; }

Diagnostic Only(const Diagnostics& diagnostics) {
  if (diagnostics.size() == 1) return diagnostics.front();
  for (const Diagnostic& each : diagnostics) ADD_FAILURE() << "not alone: " << each.kind << ": " << each.message;
  Diagnostic none;
  none.kind = diagnostics.empty() ? "none" : "many";
  return none;
}

std::string Shown(const Diagnostics& diagnostics) {
  std::string text;
  for (const Diagnostic& each : diagnostics) text += "\n  " + each.kind + ": " + each.message + " / " + each.hint;
  return text.empty() ? " nothing said" : text;
}

}  // namespace muster
