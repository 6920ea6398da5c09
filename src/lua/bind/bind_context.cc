// Host functions behind the module "muster.context": from Lua tables to the Context of src/settings and back.
#include <algorithm>
#include <array>
#include <cassert>
#include <map>
#include <optional>
#include <string>

#include "base/values/diagnostics.h"
#include "lua/bind/bind.h"
#include "lua/host/host.h"
#include "lua/state/own_files.h"
#include "lua/state/stack.h"
#include "lua/state/state.h"
#include "settings/check/effective_value.h"

namespace muster {
namespace {

// The context that a call changes at this moment: the job's, or, inside `each`, that of the process.
Context& ContextInForce(lua_State* lua, const std::string& function, const Place& place) {
  Host& host = Host::Of(lua);
  if (!host.planning) {
    host.Report(Error("order", place, function + " is called outside the plan function",
                      "only there do parameters have their values: move it into plan = function(p, job) … end"));
    Stop(lua);
  }
  if (!host.context) {
    if (host.schema.releases().empty()) host.Report(LoadSchemaInto(lua, host.schema));
    std::string known;
    for (const ReleaseFacts& facts : host.schema.releases()) {
      if (facts.described && !facts.short_name.empty()) known += (known.empty() ? "" : ", ") + facts.short_name;
    }
    host.Report(Error("release", place, function + " is used, but the recipe names no MindSpore release",
                      "write mindspore = \"1.6\" into the recipe (known: " + known + ")"));
    Stop(lua);
  }
  if (host.current_process.empty()) return *host.context;
  Context*& overlay = host.overlay_of[host.current_process];
  if (overlay == nullptr) overlay = &host.overlays.emplace_back(host.context->Overlay());
  return *overlay;
}

// The name of a secret that is only a part of the value; empty if there is none.
std::string SecretWithin(const Value& value, bool is_whole) {
  std::string found;
  if (const std::string* text = value.AsString()) {
    const auto pieces = Pieces(Text(*text));
    if (!pieces) return {};  // reported when the plan is made
    for (const TextPiece& piece : *pieces) {
      const bool secret = piece.hole && piece.hole->kind == Placeholder::Kind::kSecret;
      if (secret && !(is_whole && pieces->size() == 1)) found = piece.hole->name;
    }
  }
  if (const Value::List* list = value.AsList()) {
    for (const Value& element : *list) found = found.empty() ? SecretWithin(element, false) : found;
  }
  if (const Value::Map* map = value.AsMap()) {
    for (const auto& [key, element] : *map) found = found.empty() ? SecretWithin(element, false) : found;
  }
  return found;
}

// Whether the value contains an address of job:address, which is not settled before the process is placed.
bool HoldsAddress(const Value& value) {
  if (const std::string* text = value.AsString()) {
    return text->find(std::string(kPlaceholderOpen) + "address:") != std::string::npos;
  }
  if (const Value::List* list = value.AsList()) return std::any_of(list->begin(), list->end(), HoldsAddress);
  const Value::Map* map = value.AsMap();
  return map != nullptr &&
         std::any_of(map->begin(), map->end(), [](const auto& entry) { return HoldsAddress(entry.second); });
}

// A process gets a secret through a descriptor, whose path replaces the whole value of the attribute.
Diagnostics CheckTexts(const std::string& function, const Value::Map& arguments, const Place& place) {
  Diagnostics problems;
  for (const auto& [name, value] : arguments) {
    if (HoldsAddress(value)) {
      problems.push_back(
          Error("hole", place, function + ": " + name + " holds an address of job:address",
                "inside each, process:context { … } can hold one of a job:address that is called there"));
    }
    const std::string secret = SecretWithin(value, true);
    if (secret.empty()) continue;
    problems.push_back(Error("secret", place,
                             function + ": " + name + " holds the secret " + secret + " beside something else",
                             "a secret can only be passed on whole: as the value of an attribute"));
  }
  return problems;
}

// The named attributes in the table at `index`, in a call with `further` arguments after it; nothing after a
// report.
std::optional<Value::Map> ReadAttributes(lua_State* lua, int index, lua_Integer further, const std::string& function,
                                         const std::string& example, const Place& place) {
  Host& host = Host::Of(lua);
  Value arguments;
  std::string why;
  if (!lua_istable(lua, index) || further > 0) {
    host.Report(
        Error("type", place, function + " takes one table of named attributes", function + " { " + example + " }"));
    return std::nullopt;
  }
  if (!ToValue(lua, index, arguments, why)) {
    host.Report(Error("type", place, function + ": " + why));
    return std::nullopt;
  }
  if (arguments.AsList() != nullptr && !arguments.AsList()->empty()) {
    host.Report(Error("type", place, function + " takes names only: { attribute = value }, got " + ToText(arguments)));
    return std::nullopt;
  }
  return arguments.AsMap() != nullptr ? *arguments.AsMap() : Value::Map();
}

void ApplyTo(Host& host, Context& context, const std::string& function, const Value::Map& named, const Place& place) {
  if (const Diagnostics problems = CheckTexts(function, named, place); !problems.empty()) {
    host.Report(problems);
    context.LeaveUnsettled(function, named);
    return;
  }
  host.Report(context.Apply(function, named, place));
}

// "process:context { device_id = …, mode = … }", which is equivalent to a call inside `each`.
std::string ProcessCall(const Value::Map& named) {
  constexpr std::size_t kMax = 4;
  std::string text;
  std::size_t shown = 0;
  for (const auto& [name, value] : named) {
    if (shown++ == kMax) {
      text += ", …";
      break;
    }
    text += (text.empty() ? "" : ", ") + name + " = …";
  }
  return "process:context { " + (text.empty() ? "…" : text) + " }";
}

// set_context(function, arguments, number of further arguments)
int SetContext(lua_State* lua) {
  Host& host = Host::Of(lua);
  const Place place = host.PlaceOf(host.Here(lua));
  const std::string function = ArgumentText(lua, 1);
  Context& context = ContextInForce(lua, function, place);
  const auto named = ReadAttributes(lua, 2, lua_tointeger(lua, 3), function,
                                    function == "set_context" ? "device_target = \"CPU\"" : "…", place);
  if (!host.current_process.empty()) {
    host.Report(Warning("deprecated", place,
                        function + " inside each is deprecated: attributes of one process are set on that process",
                        "write " + ProcessCall(named.value_or(Value::Map()))));
  }
  if (named) {
    ApplyTo(host, context, function, *named, place);
  } else {
    context.LeaveUnsettled(function, {});
  }
  return 0;
}

// The function that the attribute belongs to in the recipe's release. For an unknown attribute, the function that had
// it in another release or has a similar one, so that the error is reported for that function.
std::string FunctionWith(const Context& context, const std::string& name) {
  static const std::array<std::string, 3> kFunctions = {"set_context", "set_auto_parallel_context", "set_ps_context"};
  const Schema& schema = context.schema();
  const Release& release = context.release();
  for (const std::string& function : kFunctions) {
    const Attribute* attribute = schema.Find(function, name, release);
    if (attribute != nullptr && !attribute->documented_only) return function;
  }
  for (const std::string& function : kFunctions) {
    if (schema.FindInAnyRelease(function, name, release) != nullptr) return function;
  }
  for (const std::string& function : kFunctions) {
    if (Nearest(name, schema.Names(function, release))) return function;
  }
  return kFunctions.front();
}

// process_context(arguments, number of further arguments): attributes of the process whose `each` is running
int SetProcessContext(lua_State* lua) {
  Host& host = Host::Of(lua);
  const Place place = host.PlaceOf(host.Here(lua));
  const std::string called = "process:context";
  Context& context = ContextInForce(lua, called, place);
  const auto named = ReadAttributes(lua, 1, lua_tointeger(lua, 2), called, "device_id = process.local_rank", place);
  if (!named) {
    for (const std::string& function : host.schema.Functions()) context.LeaveUnsettled(function, {});
    return 0;
  }
  std::map<std::string, Value::Map> by_function;
  for (const auto& [name, value] : *named) by_function[FunctionWith(context, name)].emplace(name, value);
  for (const auto& [function, attributes] : by_function) ApplyTo(host, context, function, attributes, place);
  return 0;
}

// call_function(function, …): by position, or with one table of names
int CallFunction(lua_State* lua) {
  Host& host = Host::Of(lua);
  const Place place = host.PlaceOf(host.Here(lua));
  const std::string function = ArgumentText(lua, 1);
  Context& context = ContextInForce(lua, "mindspore." + function, place);
  const Function* called = host.schema.FindCall(function);
  assert(called != nullptr && "the module offers what the schema describes");
  const auto refuse = [&](std::string message, std::string hint = {}) {
    host.Report(Error("type", place, std::move(message), std::move(hint)));
    context.LeaveUnsettled(function, {});
    return 0;
  };
  const int given = lua_gettop(lua) - 1;
  const auto& parameters = called->parameters;
  if (called->by_name && (given != 1 || !lua_istable(lua, 2))) {
    return refuse(function + " takes one table of named settings", "mindspore." + function + " { … }");
  }
  if (given > static_cast<int>(parameters.size())) {
    return refuse(function + " takes " + std::to_string(parameters.size()) + " arguments at most, got " +
                  std::to_string(given));
  }
  Value::Map named;
  std::string why;
  for (int i = 0; i < given; ++i) {
    Value value;
    if (!ToValue(lua, i + 2, value, why)) return refuse(function + ": " + why);
    const Attribute* only = given > 1 ? nullptr : host.schema.Find(function, parameters[0], context.release());
    const bool by_name =
        i == 0 && given == 1 && value.AsMap() != nullptr && (only == nullptr || !only->Is(Kind::kDict));
    if (by_name) {
      named = *value.AsMap();
    } else if (called->by_name) {
      return refuse(function + " takes names only: { name = value }, got " + ToText(value));
    } else if (!value.IsNull()) {
      named.emplace(parameters[static_cast<std::size_t>(i)], std::move(value));
    }
  }
  if (parameters.empty()) named.emplace(kCalled, Value(true));
  ApplyTo(host, context, function, named, place);
  return 0;
}

// functions() -> the names of the functions with parameters, whatever the release
int FunctionsWithParameters(lua_State* lua) {
  Host& host = Host::Of(lua);
  if (host.schema.releases().empty()) host.Report(LoadSchemaInto(lua, host.schema));
  lua_newtable(lua);
  int position = 0;
  for (const auto& [name, unused] : host.schema.calls()) {
    PushText(lua, name);
    lua_rawseti(lua, -2, ++position);
  }
  return 1;
}

// get_context(function, attribute) -> value
int GetContext(lua_State* lua) {
  Host& host = Host::Of(lua);
  const Place place = host.PlaceOf(host.Here(lua));
  const std::string function = ArgumentText(lua, 1);
  const std::string getter = "g" + function.substr(1);
  Context& context = ContextInForce(lua, getter, place);
  if (lua_type(lua, 2) != LUA_TSTRING) {
    host.Report(Error("type", place, getter + " takes the name of one attribute"));
    Stop(lua);
  }
  auto reading = context.Get(function, ArgumentText(lua, 2), place);
  if (!reading) {
    host.Report(reading.error());
    Stop(lua);
  }
  host.Report(reading->warnings);
  if (reading->value.IsNull()) {
    lua_pushnil(lua);
  } else {
    PushValue(lua, reading->value);
  }
  return 1;
}

int ResetContext(lua_State* lua) {
  Host& host = Host::Of(lua);
  const Place place = host.PlaceOf(host.Here(lua));
  const std::string function = ArgumentText(lua, 1);
  host.Report(ContextInForce(lua, "re" + function, place).Reset(function, place));
  return 0;
}

// touch(name) -> whether the name needs no further calls: the recipe reads it from the context module. Constants that
// its release lacks are reported, now or once the release is known.
int Touch(lua_State* lua) {
  Host& host = Host::Of(lua);
  const std::string name = ArgumentText(lua, 1);
  const int place = host.Here(lua);
  bool is_fine = false;
  if (!host.context) {
    host.touched.emplace(name, place);
  } else if (auto missing = host.schema.MissingConstant(name, host.context->release(), host.PlaceOf(place))) {
    host.Report(std::move(*missing));
  } else {
    is_fine = true;
  }
  lua_pushboolean(lua, is_fine ? 1 : 0);
  return 1;
}

// setting(function, attribute) -> the value if the recipe set it for the whole job, else nil
int SettingInForce(lua_State* lua) {
  Host& host = Host::Of(lua);
  if (!host.context) return 0;
  const Setting* setting = host.context->Find(ArgumentText(lua, 1), ArgumentText(lua, 2));
  if (setting == nullptr) return 0;
  PushValue(lua, setting->value);
  return 1;
}

// pipeline_stages() -> the stages of the job, 1 without a pipeline
int StagesInForce(lua_State* lua) {
  Host& host = Host::Of(lua);
  lua_pushinteger(lua, host.context ? static_cast<lua_Integer>(PipelineStages(*host.context)) : 1);
  return 1;
}

// in_force(function, attribute) -> the value in force for the whole job, including the release's default; nil if it is
// unknown
int ValueThatHolds(lua_State* lua) {
  Host& host = Host::Of(lua);
  if (!host.context) return 0;
  const Value value = FindEffectiveValue(*host.context, {}, ArgumentText(lua, 1) + "." + ArgumentText(lua, 2)).value;
  if (value.IsNull()) return 0;
  PushValue(lua, value);
  return 1;
}

// release() -> the release that the recipe names, "2.3.1", or nil
int NamedRelease(lua_State* lua) {
  Host& host = Host::Of(lua);
  if (!host.context) return 0;
  PushText(lua, ReleaseText(host.context->release()));
  return 1;
}

// release_before(release) -> whether the recipe names an earlier one; nil if it names none
int ReleaseIsBefore(lua_State* lua) {
  Host& host = Host::Of(lua);
  if (!host.context) return 0;
  const auto release = ParseRelease(ArgumentText(lua, 1));
  assert(release && "contracts name releases by number");
  lua_pushboolean(lua, host.context->release() < *release ? 1 : 0);
  return 1;
}

// inherited(name) -> the variable of muster's own environment, or nil; an input of the plan
int InheritedVariable(lua_State* lua) {
  const Reply reply = (*Host::Of(lua).ask)({Question::Kind::kVariable, ArgumentText(lua, 1)});
  if (!reply.given) return 0;
  PushText(lua, reply.text);
  return 1;
}

// context_ports() -> list of { attribute, port, number, place }: attributes that hold a port of the plan; number 0 if
// muster finds it
int ContextPorts(lua_State* lua) {
  Host& host = Host::Of(lua);
  lua_newtable(lua);
  if (!host.context) return 1;
  int position = 0;
  for (const auto& [key, setting] : host.context->own()) {
    const std::size_t dot = key.rfind('.');
    const Attribute* attribute = host.schema.Find(key.substr(0, dot), key.substr(dot + 1), host.context->release());
    if (attribute == nullptr || attribute->auto_port.empty()) continue;
    const std::int64_t* number = setting.value.AsInt();
    const bool found = setting.value == Value(PlaceholderText({Placeholder::Kind::kPort, attribute->auto_port, 0}));
    if (!found && (number == nullptr || *number <= 0)) continue;
    lua_newtable(lua);
    lua_pushinteger(lua, found ? 0 : *number);
    lua_setfield(lua, -2, "number");
    PushText(lua, attribute->name);
    lua_setfield(lua, -2, "attribute");
    PushText(lua, attribute->auto_port);
    lua_setfield(lua, -2, "port");
    lua_pushinteger(lua, host.Interned(setting.source.place.file, setting.source.place.line));
    lua_setfield(lua, -2, "place");
    lua_rawseti(lua, -2, ++position);
  }
  return 1;
}

constexpr HostFunction kContextFunctions[] = {
    {"set_context", Guarded<SetContext>},
    {"call_function", Guarded<CallFunction>},
    {"functions", Guarded<FunctionsWithParameters>},
    {"process_context", Guarded<SetProcessContext>},
    {"get_context", Guarded<GetContext>},
    {"reset_context", Guarded<ResetContext>},
    {"setting", Guarded<SettingInForce>},
    {"context_ports", Guarded<ContextPorts>},
    {"pipeline_stages", Guarded<StagesInForce>},
    {"touch", Guarded<Touch>},
    {"in_force", Guarded<ValueThatHolds>},
    {"release", Guarded<NamedRelease>},
    {"inherited", Guarded<InheritedVariable>},
    {"release_before", Guarded<ReleaseIsBefore>},
};

}  // namespace

void BindContext(lua_State* lua, Host& host) {
  AddFunctions(lua, host, kContextFunctions, std::size(kContextFunctions));
}

}  // namespace muster
