#include "lua/engine/planning.h"

#include <algorithm>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "lua/engine/declared.h"
#include "lua/state/load_schema.h"
#include "lua/state/stack.h"

namespace muster {
void NeedSchema(lua_State* lua, Host& host) {
  if (!host.schema_problems) host.schema_problems = LoadSchemaInto(lua, host.schema);
}

namespace {

// The overrides, those from files with the files' contents, except for secrets.
std::vector<Override> WithFileContents(const Host& host, const Declared& declared, const ParameterNames& names) {
  std::vector<Override> overrides = host.request->overrides;
  for (std::size_t i = 0; i < overrides.size(); ++i) {
    if (overrides[i].kind != Override::Kind::kFile) continue;
    const std::string name = names.Find(overrides[i].name, false).name;
    const bool secret = std::any_of(
        declared.parameters.begin(), declared.parameters.end(),
        [&](const Parameter& parameter) { return parameter.type == ParameterType::kSecret && parameter.name == name; });
    overrides[i].value =
        Value(secret || name.empty() ? "" : (*host.ask)({Question::Kind::kOverride, std::to_string(i)}).text);
  }
  return overrides;
}

// Sets the release and creates the job's context, if the recipe has one.
void MakeContext(lua_State* lua, Host& host, int recipe, const Place& place) {
  auto release_name = TextOf(lua, recipe, "mindspore");
  if (!release_name) return;
  if (!host.request->mindspore.empty()) release_name = host.request->mindspore;
  NeedSchema(lua, host);
  host.Report(*host.schema_problems);
  const auto release = host.schema.FindRelease(*release_name, place);
  if (!release) {
    host.Report(release.error());
    Stop(lua);
  }
  host.context.emplace(host.schema, *release);
  host.context->set_files(&host.shipped_files);
  host.plan.mindspore = ReleaseText(*release);
  lua_getfield(lua, recipe, "accept_release");
  host.plan.accept_release = lua_toboolean(lua, -1) != 0;
  lua_pop(lua, 1);
  for (const auto& [name, touched_at] : host.touched) {
    if (auto missing = host.schema.MissingConstant(name, *release, host.PlaceOf(touched_at))) host.Report(*missing);
  }
}

// A list or map of `p` is a Lua table, so a recipe can write into it; the plan would then not correspond to the user's
// values. Tables of settled values are on top of the stack.
void CheckParametersAreAsGiven(lua_State* lua, Host& host, const Resolved& resolved, const Place& place) {
  const int table = lua_gettop(lua);
  for (const ParameterState& state : resolved.parameters) {
    if (!state.value || (state.value->AsList() == nullptr && state.value->AsMap() == nullptr)) continue;
    lua_getfield(lua, table, state.parameter.name.c_str());
    Value now;
    std::string why;
    const bool plain = ToTypedValue(lua, -1, {}, now, why);
    lua_settop(lua, table);
    // An empty table is both a list and a map.
    const auto settled = plain ? CheckParameter(state.parameter, now, place, "") : Fail(Diagnostics{});
    if (settled && *settled == *state.value) continue;
    host.Report(Error("read_only", place, "the recipe changes its parameter " + state.parameter.name,
                      "parameters are what the user chose; copy the table and change the copy"));
  }
}

}  // namespace

std::optional<std::string> TextOf(lua_State* lua, int table, const char* key) {
  lua_getfield(lua, table, key);
  std::string text;
  const bool given = lua_type(lua, -1) == LUA_TSTRING && ToExactText(lua, -1, text);
  lua_pop(lua, 1);
  return given ? std::optional(text) : std::nullopt;
}

Place PlaceOfRecipe(lua_State* lua, const Host& host, int recipe) {
  lua_getfield(lua, recipe, "place");
  Place place = host.PlaceOf(static_cast<int>(lua_tointeger(lua, -1)));
  lua_pop(lua, 1);
  return place;
}

Declared SettleRecipe(lua_State* lua, Host& host, const OwnModules& modules, int recipe, const Place& place,
                      const std::function<void(int)>& read) {
  const int top = lua_gettop(lua);
  lua_rawgeti(lua, LUA_REGISTRYINDEX, modules.recipes);
  lua_getfield(lua, -1, "settle");
  lua_remove(lua, -2);
  lua_pushvalue(lua, recipe);
  Value::List profiles;
  for (const std::string& profile : host.request->profiles) profiles.emplace_back(profile);
  PushValue(lua, Value(std::move(profiles)));
  lua_call(lua, 2, 1);
  Declared declared = ReadDeclared(lua, host, top + 1, place);
  if (read) read(top + 1);
  lua_settop(lua, top);
  return declared;
}

namespace {

// The recipe's parameter for --env, as of @torch: a map that is called env.
bool TakesEnvironment(const Declared& declared, const ParameterNames& names) {
  const std::string name = names.Find("env", false).name;
  return std::any_of(declared.parameters.begin(), declared.parameters.end(), [&](const Parameter& parameter) {
    return parameter.name == name && parameter.type == ParameterType::kMap;
  });
}

// The text as a text of a plan, in which it stands for itself.
Text Literally(std::string text) {
  const std::string literal = PlaceholderText({Placeholder::Kind::kLiteral, {}, 0, {}});
  for (std::size_t at = text.find(kPlaceholderOpen); at != text.npos;
       at = text.find(kPlaceholderOpen, at + literal.size())) {
    text.replace(at, kPlaceholderOpen.size(), literal);
  }
  return Text(std::move(text));
}

// The variables of --env: a value for that parameter in `overrides`, or a layer of the environment of all processes.
void TakeEnvironment(Host& host, const Declared& declared, const ParameterNames& names,
                     std::vector<Override>& overrides) {
  const std::map<std::string, std::string>& given = host.request->env;
  host.command_line_env = {Layer::kCommandLine, "--env", {}, false};
  if (given.empty()) return;
  if (!TakesEnvironment(declared, names)) {
    for (const auto& [name, value] : given)
      host.command_line_env.variables[name] = {Literally(value), {}, false, false};
    return;
  }
  Override override;
  override.kind = Override::Kind::kValue;
  override.name = "env";
  override.value = Value(Value::Map(given.begin(), given.end()));
  overrides.push_back(std::move(override));
}

}  // namespace

Resolved ResolveRequest(Host& host, const Declared& declared, const ParameterNames& names,
                        const std::vector<Override>& more) {
  const EvaluationRequest& request = *host.request;
  const auto environment = [&](const std::string& name) -> std::optional<std::string> {
    const Reply reply = (*host.ask)({Question::Kind::kVariable, name});
    return reply.given ? std::optional(reply.text) : std::nullopt;
  };
  std::vector<Override> overrides = WithFileContents(host, declared, names);
  TakeEnvironment(host, declared, names, overrides);
  overrides.insert(overrides.end(), more.begin(), more.end());
  Diagnostics problems;
  Resolved resolved = ResolveParameters(declared, names, overrides, request.site, request.devices,
                                        request.depth > EvaluationDepth::kParameters, environment, problems);
  host.Report(problems);
  return resolved;
}

void BeginJob(lua_State* lua, Host& host, int recipe, const Place& place, const Resolved& resolved) {
  host.plan.secrets = resolved.secrets;
  host.plan.device_use = host.request->devices;
  for (std::size_t i = 0; i < resolved.cluster.devices.size(); ++i) {
    const std::string name = resolved.cluster.named.empty() ? std::string() : resolved.cluster.named[i].name;
    host.plan.hosts.push_back({"host" + std::to_string(i), resolved.cluster.devices[i], name});
  }
  host.origins.cluster = resolved.cluster.numbers;
  MakeContext(lua, host, recipe, place);
  host.plan.site_environment = host.request->site.environment;
}

void CallLayout(lua_State* lua, Host& host, const OwnModules& modules, const char* function, int recipe,
                const Resolved& resolved, const Place& place, const std::function<int()>& push) {
  lua_newtable(lua);
  const int parameters = lua_gettop(lua);
  lua_newtable(lua);
  const int variants = lua_gettop(lua);
  std::set<std::string, std::less<>> others;  // last names of parameters that are no floats
  for (const ParameterState& state : resolved.parameters) {
    if (std::string was = FormerName(state.parameter); !was.empty())
      host.former_names[std::move(was)] = state.parameter.name;
    if (!state.value) continue;
    if (state.parameter.variant) {
      lua_pushboolean(lua, 1);
      lua_setfield(lua, variants, state.parameter.name.c_str());
    }
    if (!host.reads.tracked) host.plan.params[state.parameter.name] = *state.value;
    PushText(lua, state.parameter.name);
    const ParameterType type = state.parameter.type;
    if (type == ParameterType::kFloat) {
      lua_pushvalue(lua, -1);
      MarkFloat(lua, parameters);
    }
    PushTypedValue(lua, *state.value);
    lua_rawset(lua, parameters);
    const std::string_view last = std::string_view(state.parameter.name).substr(state.parameter.name.rfind('.') + 1);
    (type == ParameterType::kFloat ? host.float_keys : others).emplace(last);
  }
  std::erase_if(host.float_keys, [&](const std::string& name) { return others.contains(name); });
  lua_getfield(lua, recipe, "plan");
  if (const Place plan = PlaceOfFunction(lua, -1); plan.line > 0) host.fallback = plan;
  lua_pop(lua, 1);
  lua_rawgeti(lua, LUA_REGISTRYINDEX, modules.layout);
  lua_getfield(lua, -1, function);
  lua_remove(lua, -2);
  lua_pushvalue(lua, recipe);
  lua_pushvalue(lua, parameters);
  lua_pushvalue(lua, variants);
  Value::Map cluster;
  cluster["hosts"] = Value(resolved.cluster.hosts());
  cluster["devices_per_host"] = Value(resolved.cluster.least_devices());
  cluster["devices"] = Value(resolved.cluster.all_devices());
  const auto numbers = [](const std::vector<std::uint32_t>& of_hosts) {
    Value::List list;
    for (const std::uint32_t number : of_hosts) list.emplace_back(std::int64_t{number});
    return Value(std::move(list));
  };
  cluster["devices_of"] = numbers(resolved.cluster.devices);
  if (!resolved.cluster.slots.empty()) cluster["slots_of"] = numbers(resolved.cluster.slots);
  if (resolved.cluster.slots_are_tasks) cluster["slots_are_tasks"] = Value(true);
  if (!resolved.cluster.room.empty()) cluster["room_of"] = numbers(resolved.cluster.room);
  cluster["host_memory"] = Value(static_cast<std::int64_t>(host.request->site.host_memory_bytes));
  PushValue(lua, Value(std::move(cluster)));
  Value::List args;
  for (const std::string& arg : host.request->args) args.emplace_back(arg);
  PushValue(lua, Value(std::move(args)));
  host.planning = true;
  const int further = push ? push() : 0;
  lua_call(lua, 5 + further, 0);
  lua_settop(lua, parameters);
  CheckParametersAreAsGiven(lua, host, resolved, place);
}

}  // namespace muster
