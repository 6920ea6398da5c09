// Host functions for the language: reporting, sorted keys, exact texts, modules, and requests to the parent
// process.
#include <algorithm>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "base/values/suggest.h"
#include "base/values/utf8.h"
#include "lua/bind/bind.h"
#include "lua/host/host.h"
#include "lua/host/lua_mistakes.h"
#include "lua/state/embedded_source.h"
#include "lua/state/host_function.h"
#include "lua/state/stack.h"
#include "lua/state/string_library.h"
#include "settings/values/value_json.h"

namespace muster {

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
  constexpr std::size_t kLongest = 200;
  if (text.size() > kLongest) text = std::string(Utf8Prefix(text, kLongest)) + "…";
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
                               ? "it holds a blank that is none to Lua, such as a no-break space: type it again"
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
  (*Host::Of(lua).ask)({Question::Kind::kPrint, ArgumentText(lua, 1).substr(0, kLongestQuestion)});
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

}  // namespace muster
