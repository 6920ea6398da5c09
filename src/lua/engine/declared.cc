#include "lua/engine/declared.h"

#include <cstdint>
#include <map>
#include <string>
#include <utility>

#include "lua/engine/site_table.h"
#include "lua/state/stack.h"

namespace muster {
namespace {

Place PlaceField(lua_State* lua, Host& host, int table) {
  lua_getfield(lua, table, "place");
  const Place place = host.PlaceOf(static_cast<int>(lua_tointeger(lua, -1)));
  lua_pop(lua, 1);
  return place;
}

// The lines of fields of the recipe that is run, which Lua knows only as parts of the statement that they are in.
class FieldPlaces {
 public:
  explicit FieldPlaces(const Host& host) : host_(host) {}

  // `field`: "cluster.hosts", in the table that is given at that place.
  Place Of(const Place& statement, const std::string& field) {
    if (statement.file != host_.request->recipe_file || statement.line == 0) return statement;
    const auto [lines, is_new] = lines_.try_emplace(statement.line);
    if (is_new) lines->second = KeyLines(host_.request->recipe_text, statement.line);
    const auto line = lines->second.find(field);
    return line == lines->second.end() ? statement : Place{statement.file, line->second};
  }

 private:
  const Host& host_;
  std::map<std::uint32_t, std::map<std::string, std::uint32_t>> lines_;  // by the line of the statement
};

// Calls `read` for each element of the list in the field, with its index on the stack.
template <class Read>
void ForEach(lua_State* lua, int table, const char* field, Read read) {
  lua_getfield(lua, table, field);
  const int list = lua_gettop(lua);
  const auto count = static_cast<int>(lua_objlen(lua, list));
  for (int i = 1; i <= count; ++i) {
    lua_rawgeti(lua, list, i);
    read(lua_gettop(lua));
    lua_settop(lua, list);
  }
  lua_settop(lua, list - 1);
}

// Calls `read` with the name of each field of the table in the field, its value on top of the stack.
template <class Read>
void ForEachField(lua_State* lua, int table, const char* field, Read read) {
  lua_getfield(lua, table, field);
  const int fields = lua_gettop(lua);
  lua_pushnil(lua);
  while (lua_next(lua, fields) != 0) {
    std::string name;
    lua_pushvalue(lua, -2);  // lua_next needs the key unchanged
    ToExactText(lua, -1, name);
    lua_pop(lua, 1);
    read(name);
    lua_settop(lua, fields + 1);
  }
  lua_settop(lua, fields - 1);
}

}  // namespace

Declared ReadDeclared(lua_State* lua, Host& host, int settled, const Place& place) {
  Declared declared;
  declared.place = place;
  FieldPlaces fields_of(host);
  ForEach(lua, settled, "declared", [&](int each) {
    const std::string name = RawStringField(lua, each, "name");
    const Place declared_at = PlaceField(lua, host, each);
    Value fields;
    std::string why;
    lua_getfield(lua, each, "fields");
    if (!ToValue(lua, -1, fields, why)) {
      return host.Report(Error("parameter", declared_at, "parameter " + name + ": " + why));
    }
    auto parameter = ParameterFromValue(name, fields, declared_at);
    if (!parameter) return host.Report(parameter.error());
    lua_getfield(lua, each, "variant");
    parameter->variant = lua_toboolean(lua, -1) != 0;
    ForEachField(lua, each, "when",
                 [&](const std::string& chooser) { ToExactText(lua, -1, parameter->when[chooser]); });
    declared.parameters.push_back(*std::move(parameter));
  });
  for (const Parameter& parameter : declared.parameters) {
    const std::string was = FormerName(parameter);
    for (const Parameter& other : declared.parameters) {
      if (was.empty() || other.name != was) continue;
      Diagnostic twice =
          Error("parameter", parameter.place,
                "parameter " + parameter.name + " was " + was + ", and there is a parameter of that name");
      twice.notes.push_back({"declared here", other.place});
      host.Report(std::move(twice));
      break;
    }
  }
  ForEach(lua, settled, "values", [&](int each) {
    Override value;
    value.kind = Override::Kind::kValue;
    value.name = RawStringField(lua, each, "name");
    value.profile = RawStringField(lua, each, "profile");
    value.origin = value.profile.empty() ? ParameterOrigin::kExtension : ParameterOrigin::kProfile;
    const std::string table = value.profile.empty() ? "params." : "profiles." + value.profile + ".";
    value.place = fields_of.Of(PlaceField(lua, host, each), table + value.name);
    std::string why;
    lua_getfield(lua, each, "value");
    ToValue(lua, -1, value.value, why);  // plain, as checked when it was given
    declared.values.push_back(std::move(value));
  });
  lua_getfield(lua, settled, "cluster");
  std::string why;
  if (!ToValue(lua, -1, declared.cluster, why)) host.Report(Error("type", place, "cluster: " + why));
  lua_pop(lua, 1);
  ForEachField(lua, settled, "cluster_places", [&](const std::string& field) {
    declared.cluster_places[field] =
        fields_of.Of(host.PlaceOf(static_cast<int>(lua_tointeger(lua, -1))), "cluster." + field);
  });
  return declared;
}

std::vector<EngineField> ReadEngineFields(lua_State* lua, Host& host, int settled) {
  std::vector<EngineField> fields;
  ForEach(lua, settled, "engine_settings", [&](int each) {
    EngineField field{
        RawStringField(lua, each, "engine"), RawStringField(lua, each, "name"), {}, PlaceField(lua, host, each)};
    std::string why;
    lua_getfield(lua, each, "value");
    if (!ToValue(lua, -1, field.value, why)) {
      return host.Report(Error("type", field.place, field.engine + "." + field.name + ": " + why));
    }
    fields.push_back(std::move(field));
  });
  return fields;
}

LogMetrics ReadLogMetrics(lua_State* lua, Host& host, int settled, Place& place) {
  LogMetrics metrics;
  ForEach(lua, settled, "log_metrics", [&](int each) {
    place = FieldPlaces(host).Of(PlaceField(lua, host, each), "metrics");
    const std::string name = RawStringField(lua, each, "name");
    const std::string text = RawStringField(lua, each, "text");
    if (name.empty()) {
      metrics.role = text;
    } else {
      metrics.patterns[name] = text;
    }
  });
  return metrics;
}

std::vector<ProfileFacts> ReadProfiles(lua_State* lua, Host& host, int settled) {
  std::map<std::string, Place> by_name;
  ForEachField(lua, settled, "profiles", [&](const std::string& name) {
    by_name[name] = FieldPlaces(host).Of(PlaceField(lua, host, lua_gettop(lua)), "profiles." + name);
  });
  std::vector<ProfileFacts> profiles;
  for (auto& [name, place] : by_name) profiles.push_back({name, std::move(place)});
  return profiles;
}

}  // namespace muster
