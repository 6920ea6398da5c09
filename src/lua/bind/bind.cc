#include "lua/bind/bind.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <csignal>
#include <initializer_list>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "base/values/diagnostics.h"
#include "base/values/number_text.h"
#include "base/values/quoting.h"
#include "base/values/utf8_text.h"
#include "base/values/value_json.h"
#include "lua/host/lua_errors.h"
#include "lua/state/own_files.h"
#include "lua/state/stack.h"
#include "lua/state/state.h"
#include "space/sampler.h"

namespace muster {

namespace {

// Pushes a table: the names of samplers, each with a list of its options in sweep files.
void PushSamplers(lua_State* lua) {
  lua_newtable(lua);
  for (const SamplerKind& kind : kSamplers) {
    lua_newtable(lua);
    int options = 0;
    const auto option = [&](const char* name) {
      lua_pushstring(lua, name);
      lua_rawseti(lua, -2, ++options);
    };
    if (kind.draws) option("seed");
    option("trials");
    if (kind.scrambles) option("scramble");
    if (kind.pipes) option("command");
    if (kind.pipes) option("timeout");
    lua_setfield(lua, -2, kind.name);
  }
}

}  // namespace

OwnModules LoadOwnModules(lua_State* lua, Host& host) {
  lua_newtable(lua);
  const int host_table = lua_gettop(lua);
  BindLanguage(lua, host);
  BindContext(lua, host);
  BindDevices(lua, host);
  BindArithmetic(lua, host);
  BindFiles(lua, host);
  BindRoles(lua, host);
  BindProcesses(lua, host);
  BindPlan(lua, host);
  BindPoints(lua, host);
  PushNull(lua);
  lua_setfield(lua, host_table, "null");
  PushSamplers(lua);
  lua_setfield(lua, host_table, "samplers");

  const auto load = [&](const char* path, std::initializer_list<int> arguments) {
    PushOwnChunk(lua, path);
    lua_pushvalue(lua, host_table);
    for (const int argument : arguments) lua_pushvalue(lua, argument);
    lua_call(lua, static_cast<int>(arguments.size()) + 1, 1);
    return lua_gettop(lua);
  };
  const int prelude = load("muster/prelude.lua", {});
  const int sections = load("muster/recipe_fields.lua", {});
  const int muster = load("muster/muster.lua", {prelude, sections});
  const int parameters = load("muster/parameters.lua", {muster});
  const int recipes = load("muster/recipe.lua", {prelude, muster, parameters});
  const int sweeps = load("muster/sweep.lua", {prelude, muster, parameters, recipes});
  const int context = load("muster/context.lua", {prelude});
  const int fields = load("muster/fields.lua", {muster, parameters});
  const int policies = load("muster/policy.lua", {muster, fields});
  const int addresses = load("muster/address.lua", {muster, fields});
  const int jobs = load("muster/job.lua", {prelude, muster, fields, policies, addresses});
  const int contracts = load("muster/contract.lua", {prelude, muster, fields});
  const int rendezvous = load("muster/rendezvous.lua", {});
  const int checkpoints = load("muster/checkpoints.lua", {prelude, muster});
  const int containers = load("muster/container.lua", {muster});
  const int notify = load("muster/notify.lua", {muster, fields});
  const int layout =
      load("muster/layout.lua", {prelude, muster, fields, policies, jobs, contracts, rendezvous, parameters, recipes,
                                 checkpoints, sweeps, addresses, containers, notify});
  const int rules = load("muster/rules.lua", {prelude});

  lua_getfield(lua, muster, "api");
  const int api = lua_gettop(lua);
  lua_newtable(lua);
  const auto offer = [&](const char* name, int module) {
    lua_getfield(lua, prelude, "read_only");
    lua_pushvalue(lua, module);
    lua_pushstring(lua, name);
    lua_call(lua, 2, 1);
    lua_setfield(lua, -2, name);
  };
  offer("muster", api);
  for (const char* name : {"muster.context", "muster.mindspore"}) {
    lua_pushvalue(lua, context);
    lua_pushstring(lua, name);
    lua_call(lua, 1, 1);
    lua_setfield(lua, -2, name);
  }
  lua_setfield(lua, LUA_REGISTRYINDEX, "muster.modules");
  const auto kept = [&](int module) {
    lua_pushvalue(lua, module);
    return luaL_ref(lua, LUA_REGISTRYINDEX);
  };
  return {kept(muster), kept(recipes), kept(layout), kept(rules)};
}

// Host functions for the language: reporting, sorted keys, exact texts, modules, and requests to the parent
// process.

std::string ArgumentText(lua_State* lua, int index) {
  std::string text;
  ToExactText(lua, index, text);
  return text;
}

namespace {

// here() -> place
int Here(lua_State* lua) {
  lua_pushinteger(lua, Host::Of(lua).Here(lua));
  return 1;
}

// Reads kind, place, message, hint and notes, from argument `first` on.
Diagnostic ReadDiagnostic(lua_State* lua, int first) {
  Host& host = Host::Of(lua);
  Diagnostic diagnostic = Error(ArgumentText(lua, first), host.PlaceOf(static_cast<int>(lua_tointeger(lua, first + 1))),
                                ArgumentText(lua, first + 2), ArgumentText(lua, first + 3));
  if (lua_istable(lua, first + 4)) {
    const auto count = static_cast<int>(lua_objlen(lua, first + 4));
    for (int i = 1; i <= count; ++i) {
      lua_rawgeti(lua, first + 4, i);
      lua_rawgeti(lua, -1, 1);
      lua_rawgeti(lua, -2, 2);
      diagnostic.notes.push_back({ArgumentText(lua, -2), host.PlaceOf(static_cast<int>(lua_tointeger(lua, -1)))});
      lua_pop(lua, 3);
    }
  }
  return diagnostic;
}

// report("error" | "warning", kind, place, message, hint, notes)
int Report(lua_State* lua) {
  Diagnostic diagnostic = ReadDiagnostic(lua, 2);
  if (ArgumentText(lua, 1) == "warning") diagnostic.severity = Severity::kWarning;
  Host::Of(lua).Report(std::move(diagnostic));
  return 0;
}

// stop(kind, place, message, hint, notes)
int StopWith(lua_State* lua) {
  Host::Of(lua).Report(ReadDiagnostic(lua, 1));
  Stop(lua);
}

// stop_at_syntax("file:line: message", text): a message of the parser, which contains its own place, and the file's
// text.
int StopAtSyntax(lua_State* lua) {
  Host& host = Host::Of(lua);
  Diagnostic problem = LocatedError("syntax", ArgumentText(lua, 1), host.PlaceOf(host.Here(lua)), host.files);
  TranslateSyntaxError(problem, ArgumentText(lua, 2));
  host.Report(std::move(problem));
  Stop(lua);
}

int StopIfErrors(lua_State* lua) {
  if (HasErrors(Host::Of(lua).diagnostics)) Stop(lua);
  return 0;
}

int ToExactString(lua_State* lua) { return ExactToString(lua); }

// text(value) -> the exact text of a string or number, else nil
int ExactText(lua_State* lua) {
  std::string text;
  if (!ToExactText(lua, 1, text)) return 0;
  PushText(lua, text);
  return 1;
}

// is_text(value) -> whether it is a string of UTF-8 without NUL
int IsText(lua_State* lua) {
  const std::string text = ArgumentText(lua, 1);
  lua_pushboolean(lua, lua_type(lua, 1) == LUA_TSTRING && IsUtf8(text) && text.find('\0') == std::string::npos ? 1 : 0);
  return 1;
}

// check_text(text, what, place): reports what cannot be a variable's value in a plan
int CheckText(lua_State* lua) {
  Host& host = Host::Of(lua);
  CheckPlanText(host, ArgumentText(lua, 1), ArgumentText(lua, 2), host.PlaceOf(static_cast<int>(lua_tointeger(lua, 3))),
                true);
  return 0;
}

// show(value) -> the value in Lua syntax, at most 200 bytes
int Show(lua_State* lua) {
  Value value;
  std::string why;
  std::string text = ToValue(lua, 1, value, why) ? ToText(value) : std::string("a ") + luaL_typename(lua, 1);
  if (lua_isnoneornil(lua, 1)) text = "nil";
  if (lua_type(lua, 1) == LUA_TNUMBER) ToExactText(lua, 1, text);  // nan and inf, too
  constexpr std::size_t kMax = 200;
  if (text.size() > kMax) text = std::string(Utf8Prefix(text, kMax)) + "…";
  PushText(lua, text);
  return 1;
}

bool AllText(const Value& value) {
  const auto is_text = [](const std::string& text) { return IsUtf8(text) && text.find('\0') == std::string::npos; };
  if (const std::string* text = value.AsString()) return is_text(*text);
  if (const Value::List* list = value.AsList()) return std::all_of(list->begin(), list->end(), AllText);
  const Value::Map* map = value.AsMap();
  return map == nullptr || std::all_of(map->begin(), map->end(), [&](const auto& entry) {
           return is_text(entry.first) && AllText(entry.second);
         });
}

// why_not_plain(value) -> nil if a plan can contain the value, else one phrase
int WhyNotPlain(lua_State* lua) {
  Value value;
  std::string why;
  if (ToValue(lua, 1, value, why)) {
    if (AllText(value)) return 0;
    why = "it holds a text that is not valid UTF-8 without NUL";
  }
  PushText(lua, why);
  return 1;
}

// json(value, indent) -> the value as JSON text, on one line without `indent`
int Json(lua_State* lua) {
  Value value;
  std::string why;
  if (!ToTypedValue(lua, 1, {}, value, why)) return luaL_error(lua, "%s", why.c_str());
  PushText(lua, ToJson(value).dump(static_cast<int>(luaL_optinteger(lua, 2, -1))));
  return 1;
}

// number_text(table, key) -> the text of the number there, with the ".0" of a float if the table remembers that it is
// one
int TypedNumberText(lua_State* lua) {
  luaL_checktype(lua, 1, LUA_TTABLE);
  lua_pushvalue(lua, 2);
  lua_rawget(lua, 1);
  std::string text;
  if (lua_type(lua, -1) != LUA_TNUMBER || !ToExactText(lua, -1, text)) return 0;
  if (IsMarkedFloat(lua, 1, 2).value_or(false) && text.find_first_of(".e") == std::string::npos) text += ".0";
  PushText(lua, text);
  return 1;
}

// keep_number(from, key, to, name): to[name] = from[key] is a float if it is one in `from`
int KeepNumber(lua_State* lua) {
  luaL_checktype(lua, 1, LUA_TTABLE);
  luaL_checktype(lua, 3, LUA_TTABLE);
  lua_settop(lua, 4);
  if (IsMarkedFloat(lua, 1, 2).value_or(false)) MarkFloat(lua, 3);
  return 0;
}

// former_name(name) -> the present name of the parameter that had this name, or nil
int NameSince(lua_State* lua) {
  const Host& host = Host::Of(lua);
  const auto found = host.former_names.find(ArgumentText(lua, 1));
  if (found == host.former_names.end()) return 0;
  PushText(lua, found->second);
  return 1;
}

// exact_arguments(...) -> the same with numbers as exact texts where they have a fraction, for format's %s
int ExactArguments(lua_State* lua) {
  const int count = lua_gettop(lua);
  for (int i = 1; i <= count; ++i) {
    if (lua_type(lua, i) != LUA_TTABLE) continue;
    Value value;
    std::string why;
    if (!ToValue(lua, i, value, why)) continue;
    PushText(lua, ToText(value));
    lua_replace(lua, i);
  }
  return count;
}

// is_over() -> whether the instruction limit has been reached
int IsOver(lua_State* lua) {
  lua_pushboolean(lua, Host::Of(lua).state->out_of_instructions() ? 1 : 0);
  return 1;
}

// sorted_keys(table) -> list of keys: numbers, strings, booleans. Other keys have no order.
int SortedKeys(lua_State* lua) {
  luaL_checktype(lua, 1, LUA_TTABLE);
  std::vector<lua_Number> numbers;
  std::vector<std::pair<std::string_view, int>> texts;
  bool has[2] = {false, false};
  lua_pushnil(lua);
  while (lua_next(lua, 1) != 0) {
    lua_pop(lua, 1);
    switch (lua_type(lua, -1)) {
      case LUA_TNUMBER:
        numbers.push_back(lua_tonumber(lua, -1));
        break;
      case LUA_TSTRING: {
        std::size_t size = 0;
        const char* text = lua_tolstring(lua, -1, &size);  // stays valid: the table holds the string
        texts.emplace_back(std::string_view(text, size), 0);
        break;
      }
      case LUA_TBOOLEAN:
        has[lua_toboolean(lua, -1)] = true;
        break;
      default: {
        Host& host = Host::Of(lua);
        host.Report(
            Error("order", host.PlaceOf(host.Here(lua)),
                  std::string("a table with a ") + luaL_typename(lua, -1) + " as key cannot be walked in a fixed order",
                  "use strings or numbers as keys"));
        Stop(lua);
      }
    }
  }
  std::sort(numbers.begin(), numbers.end());
  std::sort(texts.begin(), texts.end());
  lua_createtable(lua, static_cast<int>(numbers.size() + texts.size()), 0);
  int position = 0;
  for (const lua_Number number : numbers) {
    lua_pushnumber(lua, number);
    lua_rawseti(lua, -2, ++position);
  }
  for (const auto& [text, unused] : texts) {
    PushText(lua, text);
    lua_rawseti(lua, -2, ++position);
  }
  for (const int boolean : {0, 1}) {
    if (!has[boolean]) continue;
    lua_pushboolean(lua, boolean);
    lua_rawseti(lua, -2, ++position);
  }
  return 1;
}

std::vector<std::string> TextList(lua_State* lua, int index) {
  std::vector<std::string> texts;
  if (!lua_istable(lua, index)) return texts;
  const auto count = static_cast<int>(lua_objlen(lua, index));
  for (int i = 1; i <= count; ++i) {
    lua_rawgeti(lua, index, i);
    texts.push_back(ArgumentText(lua, -1));
    lua_pop(lua, 1);
  }
  return texts;
}

// keys(table) -> its string keys, sorted
int Keys(lua_State* lua) {
  luaL_checktype(lua, 1, LUA_TTABLE);
  std::vector<std::string> keys;
  lua_pushnil(lua);
  while (lua_next(lua, 1) != 0) {
    lua_pop(lua, 1);
    if (lua_type(lua, -1) == LUA_TSTRING) keys.push_back(ArgumentText(lua, -1));
  }
  std::sort(keys.begin(), keys.end());
  lua_createtable(lua, static_cast<int>(keys.size()), 0);
  for (std::size_t i = 0; i < keys.size(); ++i) {
    PushText(lua, keys[i]);
    lua_rawseti(lua, -2, static_cast<int>(i) + 1);
  }
  return 1;
}

// Blanks that are letters to Lua, as web pages and word processors have them: U+00A0, U+200B and U+FEFF.
bool HasOtherBlank(std::string_view word) {
  for (const std::string_view blank : {"\xc2\xa0", "\xe2\x80\x8b", "\xef\xbb\xbf"}) {
    if (word.find(blank) != std::string_view::npos) return true;
  }
  return false;
}

// suggest(word, known) -> what is wrong with the word itself, "did you mean …", else "known: …", or nil if nothing is
// known
int Suggest(lua_State* lua) {
  const std::string word = ArgumentText(lua, 1);
  const std::string text = HasOtherBlank(word)
                               ? "it contains a blank that Lua does not accept, such as a no-break space: type it again"
                               : DidYouMean(word, TextList(lua, 2));
  if (text.empty()) return 0;
  PushText(lua, text);
  return 1;
}

// nearest(word, known) -> "did you mean …" or nil
int NearestOf(lua_State* lua) {
  const auto nearest = Nearest(ArgumentText(lua, 1), TextList(lua, 2));
  if (!nearest) return 0;
  PushText(lua, "did you mean \"" + *nearest + "\"?");
  return 1;
}

int RawMetatable(lua_State* lua) { return lua_getmetatable(lua, 1); }

// load(text, chunk name, environment) -> function, or nil and the parser's message
int Load(lua_State* lua) {
  std::size_t size = 0;
  const char* text = luaL_checklstring(lua, 1, &size);
  const char* name = luaL_checkstring(lua, 2);
  if (name[0] == '@') Host::Of(lua).files.emplace_back(name + 1);
  if (luaL_loadbufferx(lua, text, size, name, "t") != 0) {
    lua_pushnil(lua);
    lua_insert(lua, -2);
    return 2;
  }
  lua_pushvalue(lua, 3);
  lua_setfenv(lua, -2);
  return 1;
}

// module("muster") -> the module, or nil if it is not one of muster's
int Module(lua_State* lua) {
  lua_getfield(lua, LUA_REGISTRYINDEX, "muster.modules");
  lua_pushvalue(lua, 1);
  lua_rawget(lua, -2);
  return 1;
}

// file_of(place) -> the name of its file
int FileOf(lua_State* lua) {
  PushText(lua, Host::Of(lua).PlaceOf(static_cast<int>(lua_tointeger(lua, 1))).file);
  return 1;
}

// read_beside(path) -> text, file; or nil, why. The path is below the folder of the recipe that is run.
int ReadBeside(lua_State* lua) {
  Host& host = Host::Of(lua);
  const std::string path = ArgumentText(lua, 1);
  const Reply reply = (*host.ask)({Question::Kind::kFile, path});
  if (!reply.given) {
    lua_pushnil(lua);
    PushText(lua, reply.text);
    return 2;
  }
  PushText(lua, reply.text);
  PushText(lua, host.FileBeside(path));
  return 2;
}

// run_file(function, text, file) -> what the function returns. The line of the file's `return` replaces frames that its
// tail call takes off the stack.
int RunFile(lua_State* lua) {
  Host& host = Host::Of(lua);
  struct Fallback {
    Host& host;
    Place before;
    ~Fallback() { host.fallback = before; }
  } restored{host, host.fallback};
  host.fallback = PlaceOfReturn(ArgumentText(lua, 2), ArgumentText(lua, 3));
  constexpr std::string_view kRun = "local file = ... local module = file() return module";
  const std::string name(kFileBarrier);
  if (luaL_loadbufferx(lua, kRun.data(), kRun.size(), name.c_str(), "t") != 0) return lua_error(lua);
  lua_pushvalue(lua, 1);
  lua_call(lua, 1, 1);
  return 1;
}

// own_page("frameworks/torch") -> the text of one of muster's own pages, or nil
int OwnPage(lua_State* lua) {
  const auto text = EmbeddedSource("muster/" + ArgumentText(lua, 1) + ".lua");
  if (!text) return 0;
  PushText(lua, *text);
  return 1;
}

int Print(lua_State* lua) {
  (*Host::Of(lua).ask)({Question::Kind::kPrint, ArgumentText(lua, 1).substr(0, kMaxQuestion)});
  return 0;
}

// hole(kind, name, list) -> the text of a placeholder
int PlaceholderSpelling(lua_State* lua) {
  const std::string kind = ArgumentText(lua, 1);
  const std::string name = ArgumentText(lua, 2);
  const std::string list = ArgumentText(lua, 3);
  PushText(lua, std::string(kPlaceholderOpen) + kind + (name.empty() ? "" : ":" + name) +
                    (list.empty() ? "" : ":" + list) + "}");
  return 1;
}

constexpr HostFunction kLanguageFunctions[] = {
    {"here", Guarded<Here>},
    {"report", Guarded<Report>},
    {"stop", Guarded<StopWith>},
    {"stop_at_syntax", Guarded<StopAtSyntax>},
    {"stop_if_errors", Guarded<StopIfErrors>},
    {"tostring", Guarded<ToExactString>},
    {"text", Guarded<ExactText>},
    {"is_text", Guarded<IsText>},
    {"check_text", Guarded<CheckText>},
    {"show", Guarded<Show>},
    {"why_not_plain", Guarded<WhyNotPlain>},
    {"json", Guarded<Json>},
    {"former_name", Guarded<NameSince>},
    {"number_text", Guarded<TypedNumberText>},
    {"keep_number", Guarded<KeepNumber>},
    {"exact_arguments", Guarded<ExactArguments>},
    {"is_over", Guarded<IsOver>},
    {"sorted_keys", Guarded<SortedKeys>},
    {"keys", Guarded<Keys>},
    {"suggest", Guarded<Suggest>},
    {"nearest", Guarded<NearestOf>},
    {"raw_metatable", Guarded<RawMetatable>},
    {"load", Guarded<Load>},
    {"module", Guarded<Module>},
    {"file_of", Guarded<FileOf>},
    {"read_beside", Guarded<ReadBeside>},
    {"run_file", Guarded<RunFile>},
    {"own_page", Guarded<OwnPage>},
    {"print", Guarded<Print>},
    {"hole", Guarded<PlaceholderSpelling>},
};

}  // namespace

void BindLanguage(lua_State* lua, Host& host) {
  AddFunctions(lua, host, kLanguageFunctions, std::size(kLanguageFunctions));
}

// Host functions for arithmetic: exact division, meshes, stages, sizes and durations. The arithmetic itself is in
// plan/topology and base/units.

namespace {

Place PlaceArgument(lua_State* lua, int index) {
  return Host::Of(lua).PlaceOf(static_cast<int>(lua_tointeger(lua, index)));
}

[[noreturn]] void StopWith(lua_State* lua, Diagnostics diagnostics) {
  Host::Of(lua).Report(diagnostics);
  Stop(lua);
}

// The integer at `index`; any other value ends the evaluation.
std::int64_t Whole(lua_State* lua, int index, const std::string& name, const Place& place) {
  const double number = lua_tonumber(lua, index);
  constexpr double kLimit = 9007199254740992.0;
  if (lua_type(lua, index) != LUA_TNUMBER || number != std::floor(number) || std::abs(number) > kLimit) {
    Value value;
    std::string why;
    const std::string shown = ToValue(lua, index, value, why) ? ToText(value) : std::string(luaL_typename(lua, index));
    StopWith(lua, {Error("type", place, name + " must be a whole number, got " + shown)});
  }
  return static_cast<std::int64_t>(number);
}

// exact_div(place, name, number, { name = number, … })
int ExactDiv(lua_State* lua) {
  const Place place = PlaceArgument(lua, 1);
  std::string name;
  ToExactText(lua, 2, name);
  const NamedCount dividend{name, Whole(lua, 3, name, place)};
  std::vector<NamedCount> by;
  Value divisors;
  std::string why;
  if (!ToValue(lua, 4, divisors, why) || divisors.AsMap() == nullptr || divisors.AsMap()->empty()) {
    StopWith(lua, {Error("type", place, "exact_div: by is a table { NAME = number, … }")});
  }
  for (const auto& [key, value] : *divisors.AsMap()) {  // sorted by name
    if (value.AsInt() == nullptr)
      StopWith(lua, {Error("type", place, key + " must be a whole number, got " + ToText(value))});
    by.push_back({key, *value.AsInt()});
  }
  auto quotient = ExactQuotient(dividend, by, place);
  if (!quotient) StopWith(lua, quotient.error());
  // A division inside `each` would be recorded once per process.
  constexpr std::size_t kMaxDivisions = 1'000;
  Host& host = Host::Of(lua);
  if (host.current_process.empty() && host.origins.divisions.size() < kMaxDivisions) {
    Division division{place, name, dividend.count, {}, *quotient};
    for (const NamedCount& divisor : by) division.by.emplace(divisor.name, divisor.count);
    host.origins.divisions.push_back(std::move(division));
  }
  lua_pushnumber(lua, static_cast<lua_Number>(*quotient));
  return 1;
}

// mesh(place, { { "pp", 4 }, { "dp", 2 } }) -> number of the mesh
int MakeMesh(lua_State* lua) {
  Host& host = Host::Of(lua);
  const Place place = PlaceArgument(lua, 1);
  Value axes;
  std::string why;
  std::vector<MeshAxis> read;
  const bool plain = ToValue(lua, 2, axes, why);
  const Value::List* list = plain ? axes.AsList() : nullptr;
  for (std::size_t i = 0; list != nullptr && i < list->size(); ++i) {
    const Value::List* axis = (*list)[i].AsList();
    if (axis == nullptr || axis->size() != 2 || (*axis)[0].AsString() == nullptr || (*axis)[1].AsInt() == nullptr) {
      list = nullptr;
      break;
    }
    const std::int64_t size = *(*axis)[1].AsInt();
    if (size < 1 || size > 0xffffffffLL) {
      StopWith(lua,
               {Error("range", place,
                      "mesh axis " + *(*axis)[0].AsString() + " = " + std::to_string(size) + " is not at least 1")});
    }
    read.push_back({*(*axis)[0].AsString(), static_cast<std::uint32_t>(size)});
  }
  if (list == nullptr) {
    StopWith(lua, {Error("type", place, "job:mesh expects a list of axes: { { \"pp\", 4 }, { \"tp\", 2 } }")});
  }
  auto mesh = Mesh::Make(std::move(read), place);
  if (!mesh) StopWith(lua, mesh.error());
  constexpr std::size_t kMaxMeshes = 100;
  if (host.current_process.empty() && host.origins.meshes.size() < kMaxMeshes)
    host.origins.meshes.push_back({place, mesh->axes()});
  host.meshes.push_back(*std::move(mesh));
  lua_pushinteger(lua, static_cast<lua_Integer>(host.meshes.size()) - 1);
  return 1;
}

const Mesh& MeshArgument(lua_State* lua, int index) {
  return Host::Of(lua).meshes.at(static_cast<std::size_t>(lua_tointeger(lua, index)));
}

int MeshSize(lua_State* lua) {
  lua_pushnumber(lua, MeshArgument(lua, 1).size());
  return 1;
}

// mesh_coords(place, mesh, rank) -> { pp = 0, … }
int MeshCoords(lua_State* lua) {
  const Place place = PlaceArgument(lua, 1);
  const Mesh& mesh = MeshArgument(lua, 2);
  const std::int64_t rank = Whole(lua, 3, "rank", place);
  if (rank < 0 || rank > 0xffffffffLL)
    StopWith(lua, {Error("range", place, "rank " + std::to_string(rank) + " is not in the mesh")});
  auto coords = mesh.Coords(static_cast<std::uint32_t>(rank), place);
  if (!coords) StopWith(lua, coords.error());
  lua_createtable(lua, 0, static_cast<int>(coords->size()));
  for (std::size_t i = 0; i < coords->size(); ++i) {
    PushText(lua, mesh.axes()[i].name);
    lua_pushnumber(lua, (*coords)[i]);
    lua_rawset(lua, -3);
  }
  return 1;
}

// mesh_rank(place, mesh, { pp = 0, … }) -> rank
int MeshRank(lua_State* lua) {
  const Place place = PlaceArgument(lua, 1);
  const Mesh& mesh = MeshArgument(lua, 2);
  Value named;
  std::string why;
  if (!ToValue(lua, 3, named, why) || named.AsMap() == nullptr || named.AsMap()->size() != mesh.axes().size()) {
    StopWith(lua, {Error("type", place, "mesh:rank expects a coordinate for every axis")});
  }
  std::vector<std::uint32_t> coords;
  for (const MeshAxis& axis : mesh.axes()) {
    const auto found = named.AsMap()->find(axis.name);
    const std::int64_t* coord = found == named.AsMap()->end() ? nullptr : found->second.AsInt();
    if (coord == nullptr || *coord < 0 || *coord > 0xffffffffLL) {
      StopWith(lua, {Error("range", place,
                           "mesh:rank: axis " + axis.name + " needs a coordinate from 0 to " +
                               std::to_string(axis.size - 1))});
    }
    coords.push_back(static_cast<std::uint32_t>(*coord));
  }
  auto rank = mesh.Rank(coords, place);
  if (!rank) StopWith(lua, rank.error());
  lua_pushnumber(lua, *rank);
  return 1;
}

// stage(rank, world size, stages) -> stage, rank in stage; 0 and the rank if stages do not divide the world, which is
// reported elsewhere.
int Stage(lua_State* lua) {
  const auto rank = static_cast<std::uint32_t>(lua_tonumber(lua, 1));
  const auto world = static_cast<std::uint32_t>(lua_tonumber(lua, 2));
  // Set by the recipe, so it may be any number.
  const auto stages = static_cast<std::uint32_t>(std::clamp(lua_tonumber(lua, 3), 0.0, 4294967295.0));
  StagePosition position{0, rank};
  if (stages > 0 && world % stages == 0 && rank < world) position = StageOf(rank, world, stages);
  lua_pushnumber(lua, position.stage);
  lua_pushnumber(lua, position.rank_in_stage);
  return 2;
}

// size(place, bytes, unit) -> "3.5GB"
int Size(lua_State* lua) {
  const Place place = PlaceArgument(lua, 1);
  const std::int64_t bytes = Whole(lua, 2, "the size", place);
  std::string unit;
  ToExactText(lua, 3, unit);
  const auto factor = unit.empty() ? std::nullopt : ParseBytes("1" + unit);
  if (!factor || bytes < 0) {
    StopWith(lua, {Error("type", place,
                         "muster.size expects bytes and a unit such as \"GB\" or \"GiB\", got " +
                             std::to_string(bytes) + " and " + Quoted(unit),
                         "units are B KB MB GB TB PB, of 1000, and KiB MiB GiB TiB PiB, of 1024")});
  }
  // Never with an exponent: many programs that read sizes do not accept one.
  std::array<char, 400> digits{};
  const double number = static_cast<double>(bytes) / static_cast<double>(*factor);
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), number, std::chars_format::fixed).ptr;
  PushText(lua, std::string(digits.data(), end) + unit);
  return 1;
}

// duration_ms("10s") -> milliseconds, or nil. A number is no duration, except 0.
int DurationMs(lua_State* lua) {
  std::string text;
  if (!ToExactText(lua, 1, text)) return 0;
  const auto seconds = ParseDuration(text);
  constexpr double kMax = 4e6;  // fits 32 bits of milliseconds
  if (!seconds || !(*seconds >= 0 && *seconds <= kMax)) return 0;
  lua_pushnumber(lua, std::round(*seconds * 1000));
  return 1;
}

// duration_hint(value) -> what to write instead of a value that is no duration: a hint, or nil
int DurationHintOf(lua_State* lua) {
  std::string text;
  if (!ToExactText(lua, 1, text)) return 0;
  const std::string hint = DurationHint(text, "");
  if (hint.empty()) return 0;
  lua_pushlstring(lua, hint.data(), hint.size());
  return 1;
}

// bytes("1GiB" | bytes) -> bytes, or nil
int Bytes(lua_State* lua) {
  std::string text;
  if (!ToExactText(lua, 1, text)) return 0;
  const auto bytes = ParseBytes(text);
  constexpr std::int64_t kMax = std::int64_t{1} << 53;  // a Lua number holds it exactly
  if (!bytes || *bytes > kMax) return 0;
  lua_pushnumber(lua, static_cast<double>(*bytes));
  return 1;
}

constexpr HostFunction kArithmeticFunctions[] = {
    {"exact_div", Guarded<ExactDiv>},
    {"mesh", Guarded<MakeMesh>},
    {"mesh_size", Guarded<MeshSize>},
    {"mesh_coords", Guarded<MeshCoords>},
    {"mesh_rank", Guarded<MeshRank>},
    {"stage", Guarded<Stage>},
    {"size", Guarded<Size>},
    {"duration_ms", Guarded<DurationMs>},
    {"duration_hint", Guarded<DurationHintOf>},
    {"bytes", Guarded<Bytes>},
};

}  // namespace

void BindArithmetic(lua_State* lua, Host& host) {
  AddFunctions(lua, host, kArithmeticFunctions, std::size(kArithmeticFunctions));
}

}  // namespace muster
