// Host functions for files beside the recipe: naming them in their folder, and copying them into the plan. Opens
// nothing; requests files from the parent process.
#include <algorithm>
#include <string>
#include <utility>

#include <nlohmann/json.hpp>

#include "base/values/text_encoding.h"
#include "base/values/utf8.h"
#include "lua/bind/bind.h"
#include "lua/host/host.h"
#include "lua/state/host_function.h"
#include "lua/state/stack.h"
#include "settings/values/value_json.h"
#include "settings/values/value_yaml.h"

namespace muster {
namespace {

// Configuration, not data: the content becomes part of every plan that is printed, stored and sent.
constexpr std::size_t kLargestShipped = 1U << 20;

// beside(place, name) -> absolute path of a file beside the recipe
int Beside(lua_State* lua) {
  Host& host = Host::Of(lua);
  const Place place = host.PlaceOf(static_cast<int>(lua_tointeger(lua, 1)));
  const std::string name = ArgumentText(lua, 2);
  if (lua_type(lua, 2) != LUA_TSTRING || name.empty() || name.find('\0') != std::string::npos) {
    host.Report(Error("type", place, "muster.here expects the name of a file beside the recipe"));
    Stop(lua);
  }
  const Reply reply = (*host.ask)({Question::Kind::kExists, name});
  if (!reply.given) {
    host.Report(Error("missing_path", place, "muster.here: " + name + " is not beside the recipe: " + reply.text));
    Stop(lua);
  }
  PushText(lua, host.PathBeside(name));
  return 1;
}

// "./conf//a.json" -> "conf/a.json"; empty if it cannot be the name of a file below the run directory.
std::string ShippedName(const std::string& name) {
  constexpr std::size_t kLongestPart = 128;
  constexpr std::size_t kLongest = 1000;
  std::string path;
  if (name.starts_with('/')) return path;
  for (std::size_t begin = 0; begin < name.size();) {
    const std::size_t end = std::min(name.find('/', begin), name.size());
    const std::string part = name.substr(begin, end - begin);
    begin = end + 1;
    if (part.empty() || part == ".") continue;
    const bool plain = std::all_of(part.begin(), part.end(), [](char c) {
      return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '.' ||
             c == '-';
    });
    if (!plain || part == ".." || part.size() > kLongestPart) return "";
    path += (path.empty() ? "" : "/") + part;
  }
  return path.size() > kLongest ? "" : path;
}

// The content with everything escaped that looks like a placeholder.
std::string AsLiteral(const std::string& content) {
  const std::string literal = PlaceholderText({Placeholder::Kind::kLiteral, {}, 0});
  std::string text;
  std::size_t done = 0;
  for (std::size_t found = 0; (found = content.find(kPlaceholderOpen, done)) != std::string::npos;) {
    text.append(content, done, found - done).append(literal);
    done = found + kPlaceholderOpen.size();
  }
  return text.append(content, done, std::string::npos);
}

// ship(place, name) -> the path at which processes find the file
int Ship(lua_State* lua) {
  Host& host = Host::Of(lua);
  const Place place = host.PlaceOf(static_cast<int>(lua_tointeger(lua, 1)));
  if (lua_type(lua, 2) != LUA_TSTRING) {
    host.Report(Error("type", place, "muster.file expects the name of a file beside the recipe"));
    Stop(lua);
  }
  const std::string name = ArgumentText(lua, 2);
  // Files of a library are stored under the library's name.
  const std::string mark = name.starts_with('@') ? "@" : "";
  const std::string path = ShippedName(name.substr(mark.size()));
  const std::string there = PlaceholderText({Placeholder::Kind::kRunDir, {}, 0}) + "/files/" + path;
  const auto refuse = [&](const std::string& why, std::string hint = {}) {
    host.Report(Error("file", place, "muster.file: " + name + " " + why, std::move(hint)));
    PushText(lua, there);  // so that further errors are reported as well
    return 1;
  };
  if (host.shipped_places.contains(path)) {
    PushText(lua, there);
    return 1;
  }
  const Reply reply = (*host.ask)({Question::Kind::kFile, path.empty() ? name : mark + path});
  if (!reply.given) {
    const bool outside = name.starts_with('/') || name.starts_with("../");
    return refuse("cannot be shipped: " + reply.text,
                  outside ? "the plan contains the file: copy it beside the recipe and name it \"" +
                                name.substr(name.rfind('/') + 1) + "\""
                          : "");
  }
  if (path.empty()) {
    return refuse("cannot be shipped under its own name",
                  "name it relative to the recipe's folder, with letters, digits, '_', '-' and '.'");
  }
  if (reply.text.size() > kLargestShipped) {
    return refuse("is larger than 1 MiB", "muster.here names a file that is read where it lies");
  }
  if (!IsUtf8(reply.text) || reply.text.find('\0') != std::string::npos) {
    return refuse("is no UTF-8 text, and a plan holds texts only",
                  "muster.here names a file that is read where it lies");
  }
  host.shipped_places.emplace(path, place);
  host.shipped_files[there] = {host.FileBeside(mark + path), reply.text, {}};
  PushText(lua, there);
  return 1;
}

// Integers that Lua numbers cannot represent exactly.
const Value* Inexact(const Value& value) {
  constexpr std::int64_t kExact = std::int64_t{1} << 53;
  if (const std::int64_t* integer = value.AsInt()) return *integer > kExact || *integer < -kExact ? &value : nullptr;
  const auto first = [](const auto& range, auto get) -> const Value* {
    for (const auto& element : range) {
      if (const Value* found = Inexact(get(element))) return found;
    }
    return nullptr;
  };
  if (const Value::List* list = value.AsList()) return first(*list, [](const Value& e) -> const Value& { return e; });
  if (const Value::Map* map = value.AsMap()) return first(*map, [](const auto& e) -> const Value& { return e.second; });
  return nullptr;
}

// Remembers the keys of the file, for hints about keys that it does not have.
void KeepKeys(const Value& value, std::vector<std::string>& keys) {
  constexpr std::size_t kMostKeys = 2000;
  if (const Value::List* list = value.AsList()) {
    for (const Value& element : *list) KeepKeys(element, keys);
  }
  if (value.AsMap() == nullptr) return;
  for (const auto& [key, mapped] : *value.AsMap()) {
    if (keys.size() >= kMostKeys) return;
    if (std::find(keys.begin(), keys.end(), key) == keys.end()) keys.push_back(key);
    KeepKeys(mapped, keys);
  }
}

// Reports and stops if the content of a file that is read as values is not UTF-8.
void WantUtf8(lua_State* lua, Host& host, const char* kind, const Place& asked) {
  const std::string file = ArgumentText(lua, 2);
  const auto problem = FindEncodingProblem(ArgumentText(lua, 1));
  if (!problem) return;
  Diagnostic diagnostic = Error(kind, {file, static_cast<std::uint32_t>(std::max<std::size_t>(problem->line, 1))},
                                problem->what + "; files of values are read as UTF-8", EncodingHint(*problem, file));
  diagnostic.notes.push_back({"read here", asked});
  host.Report(std::move(diagnostic));
  Stop(lua);
}

// value_of_json(text, file, place) -> the value; `place` is the place of the call
int ValueOfJson(lua_State* lua) {
  Host& host = Host::Of(lua);
  const Place asked = host.PlaceOf(static_cast<int>(lua_tointeger(lua, 3)));
  const auto refuse = [&](std::uint32_t line, const std::string& why) {
    Diagnostic problem = Error("json", {ArgumentText(lua, 2), line}, why);
    problem.notes.push_back({"read here", asked});
    host.Report(std::move(problem));
    Stop(lua);
  };
  WantUtf8(lua, host, "json", asked);
  const auto json = ValueFromJsonFile(ArgumentText(lua, 1));
  if (!json) {
    refuse(json.error().line, json.error().message);
    return 0;
  }
  if (const Value* number = Inexact(*json)) {
    refuse(1, ToText(*number) + " is beyond 2^53, where Lua's numbers have gaps");
  }
  KeepKeys(*json, host.keys_of_files[ArgumentText(lua, 2)]);
  PushTypedValue(lua, *json);
  return 1;
}

int ValueOfYaml(lua_State* lua) {
  Host& host = Host::Of(lua);
  const Place asked = host.PlaceOf(static_cast<int>(lua_tointeger(lua, 3)));
  WantUtf8(lua, host, "yaml", asked);
  const std::string file = ArgumentText(lua, 2);
  const auto yaml = ValueFromYamlText(ArgumentText(lua, 1));
  if (!yaml) {
    Diagnostic problem = Error("yaml", {file, yaml.error().line}, yaml.error().message);
    problem.notes.push_back({"read here", asked});
    host.Report(std::move(problem));
    Stop(lua);
  }
  for (const YamlText::Trap& trap : yaml->traps) {
    host.Report(Warning(
        "yaml_1_1", {file, trap.line},
        trap.plain + " is " + trap.meaning + " here, and " + trap.old_meaning + " to programs that read YAML 1.1",
        trap.instead.empty() ? "write true, false, a plain number, or a text in quotes"
                             : "write " + trap.instead + ", which both read alike, or a text in quotes"));
  }
  KeepKeys(yaml->value, host.keys_of_files[file]);
  PushTypedValue(lua, yaml->value);
  return 1;
}

// yaml_text(value), json_text(value) -> the text of a file; the value is plain
template <std::string (*Render)(const Value&)>
int TextOfValue(lua_State* lua) {
  Value value;
  std::string why;
  ToTypedValue(lua, 1, Host::Of(lua).float_keys, value, why);
  PushText(lua, Render(value));
  return 1;
}

std::string JsonFile(const Value& value) { return ToJson(value).dump(2) + "\n"; }

// setting_file(function, attribute) -> the JSON of the shipped file that the attribute names, or nil
int SettingFile(lua_State* lua) {
  Host& host = Host::Of(lua);
  const Setting* setting = host.context ? host.context->Find(ArgumentText(lua, 1), ArgumentText(lua, 2)) : nullptr;
  const std::string* text = setting == nullptr ? nullptr : setting->value.AsString();
  const auto file = text == nullptr ? host.shipped_files.end() : host.shipped_files.find(*text);
  if (file == host.shipped_files.end()) return 0;
  const auto json = ValueFromJsonText(file->second.content, kMostJsonFileBytes);
  if (!json) return 0;  // reported where the attribute was set
  PushValue(lua, *json);
  return 1;
}

// shipped_json(path) -> the JSON of the shipped file with this path, or nil and why it has none
int ShippedJson(lua_State* lua) {
  Host& host = Host::Of(lua);
  const auto file = host.shipped_files.find(ArgumentText(lua, 1));
  if (file == host.shipped_files.end()) return 0;
  if (const auto json = ValueFromJsonText(file->second.content, kMostJsonFileBytes)) {
    PushValue(lua, *json);
    return 1;
  } else {
    lua_pushnil(lua);
    PushText(lua, json.error());
    return 2;
  }
}

// describe_file(path, text, place): the content of a file of job:file is known, as that of muster.file, to checks of
// what names it
int DescribeFile(lua_State* lua) {
  Host& host = Host::Of(lua);
  const Place place = host.PlaceOf(static_cast<int>(lua_tointeger(lua, 3)));
  host.shipped_files[ArgumentText(lua, 1)] = {{}, ArgumentText(lua, 2), place};
  return 0;
}

// file(name, text, place): a file of job:file
int AddFile(lua_State* lua) {
  Host& host = Host::Of(lua);
  const std::string name = ArgumentText(lua, 1);
  std::string text = ArgumentText(lua, 2);
  const Place place = host.PlaceOf(static_cast<int>(lua_tointeger(lua, 3)));
  CheckPlanText(host, text, "file " + name, place, true);
  if (const auto shipped = host.shipped_places.find(name); shipped != host.shipped_places.end()) {
    Diagnostic twice = Error("duplicate", place, "job:file and muster.file both make the file " + name);
    twice.notes.push_back({"muster.file ships it here", shipped->second});
    host.Report(std::move(twice));
  }
  host.plan.files["files/" + name] = PlanFile{Text(std::move(text))};
  return 0;
}

constexpr HostFunction kFilesFunctions[] = {
    {"beside", Guarded<Beside>},
    {"ship", Guarded<Ship>},
    {"value_of_json", Guarded<ValueOfJson>},
    {"value_of_yaml", Guarded<ValueOfYaml>},
    {"yaml_text", Guarded<TextOfValue<YamlTextOf>>},
    {"json_text", Guarded<TextOfValue<JsonFile>>},
    {"setting_file", Guarded<SettingFile>},
    {"shipped_json", Guarded<ShippedJson>},
    {"describe_file", Guarded<DescribeFile>},
    {"file", Guarded<AddFile>},
};

}  // namespace

void BindFiles(lua_State* lua, Host& host) { AddFunctions(lua, host, kFilesFunctions, std::size(kFilesFunctions)); }

void AddShippedFiles(Host& host) {
  for (const auto& [path, unused] : host.shipped_places) {
    const ShippedFile& file =
        host.shipped_files.at(PlaceholderText({Placeholder::Kind::kRunDir, {}, 0}) + "/files/" + path);
    host.plan.files["files/" + path] = PlanFile{Text(AsLiteral(file.content))};
  }
}

}  // namespace muster
