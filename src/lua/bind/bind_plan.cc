// Host functions for the plan beside its roles: files copied into it, paths that processes will write, ports,
// activation, checkpoints, notifications, derived values, and the judgement of a sweep's points. Opens nothing;
// requests files from the parent process.
#include <algorithm>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "base/values/quoting.h"
#include "base/values/text_parts.h"
#include "base/values/utf8_text.h"
#include "base/values/value_json.h"
#include "lua/bind/bind.h"
#include "lua/host/host.h"
#include "lua/state/stack.h"
#include "lua/state/state.h"
#include "plan/environment/site_file.h"
#include "plan/plan/contract_variables.h"
#include "settings/check/job_check.h"
#include "settings/values/value_yaml.h"

namespace muster {

// Host functions for files beside the recipe: naming them in their folder, and copying them into the plan. Opens
// nothing; requests files from the parent process.

namespace {

// Configuration, not data: the content becomes part of every plan that is printed, stored and sent.
constexpr std::size_t kMaxShipped = 1U << 20;

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
  constexpr std::size_t kMaxPart = 128;
  constexpr std::size_t kMax = 1000;
  std::string path;
  if (name.starts_with('/')) return path;
  for (std::size_t begin = 0; begin < name.size();) {
    const std::size_t end = std::min(name.find('/', begin), name.size());
    const std::string part = name.substr(begin, end - begin);
    begin = end + 1;
    if (part.empty() || part == ".") continue;
    const bool plain = std::all_of(part.begin(), part.end(),
                                   [](char c) { return IsLetterOrDigit(c) || c == '_' || c == '.' || c == '-'; });
    if (!plain || part == ".." || part.size() > kMaxPart) return "";
    path += (path.empty() ? "" : "/") + part;
  }
  return path.size() > kMax ? "" : path;
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
  if (reply.text.size() > kMaxShipped) {
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
  constexpr std::size_t kMaxKeys = 2000;
  if (const Value::List* list = value.AsList()) {
    for (const Value& element : *list) KeepKeys(element, keys);
  }
  if (value.AsMap() == nullptr) return;
  for (const auto& [key, mapped] : *value.AsMap()) {
    if (keys.size() >= kMaxKeys) return;
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
  const auto json = ValueFromJsonText(file->second.content, kMaxJsonFileBytes);
  if (!json) return 0;  // reported where the attribute was set
  PushValue(lua, *json);
  return 1;
}

// shipped_json(path) -> the JSON of the shipped file with this path, or nil and why it has none
int ShippedJson(lua_State* lua) {
  Host& host = Host::Of(lua);
  const auto file = host.shipped_files.find(ArgumentText(lua, 1));
  if (file == host.shipped_files.end()) return 0;
  if (const auto json = ValueFromJsonText(file->second.content, kMaxJsonFileBytes)) {
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

// The paths that processes will write because of their contexts, derived during the evaluation, and a warning if two
// processes of a host share one. The rules are in settings (settings/check/job_check.h); this file converts the plan's
// processes to their arguments.

namespace {

// The paths in order without duplicates; if there are many, the first and the last.
Value Shown(const WrittenPaths& written) {
  constexpr std::size_t kMax = 8;
  constexpr std::size_t kFirst = 3;
  Value::List paths;
  std::set<std::string_view> seen;
  for (const WrittenPath& written_path : written.paths) {
    if (seen.insert(written_path.path).second) paths.emplace_back(written_path.path);
  }
  if (paths.size() <= kMax) return Value(std::move(paths));
  return Value(Value::List{paths[0], paths[1], paths[kFirst - 1], "…", paths.back()});
}

}  // namespace

void ReportWrittenPaths(Host& host) {
  if (!host.context) return;
  std::vector<WritingProcess> processes;
  for (const Process& process : host.plan.processes) {
    const Role& role = host.plan.roles[process.role];
    // A scheduler compiles nothing, and the behaviour of other roles is unknown.
    if (role.plays != "worker" && role.plays != "server") continue;
    WritingProcess& writing = processes.emplace_back();
    writing.name = ProcessName(host.plan, process);
    const auto overlay = host.overlay_of.find(writing.name);
    writing.context = overlay == host.overlay_of.end() ? &*host.context : overlay->second;
    writing.host = process.host;
    writing.cwd = process.cwd ? process.cwd->marked : role.cwd.marked;
    writing.variable = [&process, &role](const std::string& name) {
      const auto own = process.env.find(name);
      if (own != process.env.end()) return own->second.marked;
      const auto shared = role.env.find(name);
      return shared == role.env.end() ? std::string() : shared->second.marked;
    };
  }
  const std::vector<WrittenPaths> written = PredictWrittenPaths(*host.context, processes);
  host.Report(CheckWrittenPaths(written, processes));
  for (const WrittenPaths& paths : written) host.plan.derived.emplace(paths.attribute->name, Shown(paths));
}

// Host functions for the other parts of a plan: ports, activation, checkpoints, notifications and derived values.

namespace {

// port(name, { number, host, owner })
int AddPort(lua_State* lua) {
  std::string name;
  ToExactText(lua, 1, name);
  PlanPort port;
  port.number = static_cast<std::uint16_t>(CountField(lua, 2, "number"));
  port.host = CountField(lua, 2, "host");
  port.owner = TextField(lua, 2, "owner");
  Host::Of(lua).plan.ports[name] = std::move(port);
  return 0;
}

// activate(kind, what): a step of job:activate
int AddActivation(lua_State* lua) {
  std::string kind;
  ToExactText(lua, 1, kind);
  const auto known = std::find(kActivationKinds.begin(), kActivationKinds.end(), kind);
  ActivationStep step;
  step.kind = static_cast<ActivationStep::Kind>(known - kActivationKinds.begin());
  ToExactText(lua, 2, step.what);
  Host::Of(lua).plan.activation.push_back(std::move(step));
  return 0;
}

// checkpoints { dir, latest, file, complete }, as checkpoints.lua checked them
int PlaceCheckpoints(lua_State* lua) {
  CheckpointPlace& place = Host::Of(lua).plan.checkpoints;
  place.dir = TextField(lua, 1, "dir");
  place.latest = TextField(lua, 1, "latest");
  place.file = TextField(lua, 1, "file");
  place.complete = TextField(lua, 1, "complete");
  return 0;
}

// notify(list), as notify.lua checked it
int TakeNotifications(lua_State* lua) {
  Value value;
  std::string why;
  if (!ToValue(lua, 1, value, why)) return luaL_error(lua, "%s", why.c_str());
  auto notifications = NotificationsFrom(value);
  if (!notifications) return luaL_error(lua, "%s", notifications.error().c_str());
  Plan& plan = Host::Of(lua).plan;
  plan.notifications = *std::move(notifications);
  // Those of the recipe's secrets that it names, so that one that is missing does not matter to the processes.
  for (Notification& notification : plan.notifications) {
    for (const auto& [name, source] : plan.secrets) {
      const std::string hole = PlaceholderText({Placeholder::Kind::kSecret, name, 0});
      const bool named =
          notification.webhook.marked == hole || std::any_of(notification.env.begin(), notification.env.end(),
                                                             [&](const auto& each) { return each.second == hole; });
      if (named) notification.secrets.emplace(name, source);
    }
  }
  return 0;
}

// contract(list) -> why a variable of the recipe's contract cannot be read, or nil
int TakeContract(lua_State* lua) {
  Value value;
  std::string why;
  if (ToValue(lua, 1, value, why)) {
    auto variables = ContractVariablesFrom(value);
    if (variables) {
      Host::Of(lua).plan.contract = *std::move(variables);
      return 0;
    }
    why = variables.error();
  }
  PushText(lua, why);
  return 1;
}

// resumed() -> id of the run that the job resumes, or nil
int Resumed(lua_State* lua) {
  const std::string& run = Host::Of(lua).request->resumed;
  if (run.empty()) return 0;
  PushText(lua, run);
  return 1;
}

// The value to which the user pinned a derived value, in the type that the recipe derives.
Result<Value> PinnedValue(const Override& pin, const Value& computed, const Place& place) {
  if (pin.kind == Override::Kind::kValue) return pin.value;
  const std::string& text = *pin.value.AsString();
  if (computed.AsString() != nullptr) return pin.value;
  auto value = ValueFromJsonText(text);
  const bool fits = value && (value->TypeName() == computed.TypeName() || (value->IsNumber() && computed.IsNumber()));
  if (fits) return *std::move(value);
  return Fail(Error("pin", place,
                    "--pin " + pin.name + ": the recipe derives the " + std::string(computed.TypeName()) + " " +
                        ToText(computed) + ", and " + Quoted(text) + " is of another type",
                    "--pin " + pin.name + ":=JSON pins it to a value of another type"));
}

// derive(name, value, place) -> the value, or the pinned value
int Derive(lua_State* lua) {
  Host& host = Host::Of(lua);
  std::string name;
  std::string why;
  ToExactText(lua, 1, name);
  const Place place = host.PlaceOf(static_cast<int>(lua_tointeger(lua, 3)));
  Value value;
  lua_settop(lua, 2);
  if (!ToValue(lua, 2, value, why)) return 1;  // has been reported
  host.origins.derived[name] = place;
  for (const Override& pin : host.request->pins) {
    if (pin.name != name) continue;
    host.pins_used.insert(name);
    const auto pinned = PinnedValue(pin, value, place);
    if (!pinned) {
      host.Report(pinned.error());
      continue;
    }
    host.plan.pinned.emplace(name, value);
    host.Report(
        Warning("pin", place, name + " is pinned to " + ToText(*pinned) + "; the recipe derives " + ToText(value)));
    host.plan.derived[name] = *pinned;
    PushValue(lua, *pinned);
    return 1;
  }
  host.plan.derived[name] = std::move(value);
  return 1;
}

// depth() -> how far to evaluate the recipe
int Depth(lua_State* lua) {
  constexpr const char* kNames[] = {"parameters", "derived", "job", "plan"};
  lua_pushstring(lua, kNames[static_cast<std::size_t>(Host::Of(lua).request->depth())]);
  return 1;
}

constexpr HostFunction kPlanFunctions[] = {
    {"port", Guarded<AddPort>},
    {"activate", Guarded<AddActivation>},
    {"checkpoints", Guarded<PlaceCheckpoints>},
    {"resumed", Guarded<Resumed>},
    {"derive", Guarded<Derive>},
    {"depth", Guarded<Depth>},
    {"notify", Guarded<TakeNotifications>},
    {"contract", Guarded<TakeContract>},
};

}  // namespace

void BindPlan(lua_State* lua, Host& host) { AddFunctions(lua, host, kPlanFunctions, std::size(kPlanFunctions)); }

// Host functions for judging the points of a sweep: which parameters a plan reads, the result of a condition, and the
// line that gave it.

namespace {

// tracks() -> whether reads are recorded
int Tracks(lua_State* lua) {
  lua_pushboolean(lua, Host::Of(lua).reads.tracked ? 1 : 0);
  return 1;
}

// read(name): a parameter's value was read
int Read(lua_State* lua) {
  std::size_t size = 0;
  const char* name = lua_tolstring(lua, 1, &size);
  if (name != nullptr) Host::Of(lua).reads.Note({name, size});
  return 0;
}

int ReadAll(lua_State* lua) {
  Host::Of(lua).reads.NoteAll();
  return 0;
}

// pause_reads(paused)
int PauseReads(lua_State* lua) {
  Host::Of(lua).reads.paused = lua_toboolean(lua, 1) != 0;
  return 0;
}

// The last line that the running condition reached. An evaluator has one thread, and hooks have no argument.
struct LineWatch {
  lua_Hook counts = nullptr;  // the state's own
  std::string source;
  int first = 0;
  int last = 0;
  int reached = 0;
};
LineWatch* watch = nullptr;

void OnLine(lua_State* lua, lua_Debug* debug) {
  if (debug->event != LUA_HOOKLINE) {
    if (watch != nullptr && watch->counts != nullptr) watch->counts(lua, debug);
    return;
  }
  if (watch == nullptr || debug->currentline < watch->first || debug->currentline > watch->last) return;
  lua_getinfo(lua, "S", debug);
  if (watch->source == debug->source) watch->reached = debug->currentline;
}

// call_where(function, p, d) -> whether it holds, the reason if not, the place of its last line
int CallWhere(lua_State* lua) {
  Host& host = Host::Of(lua);
  lua_settop(lua, 3);
  lua_Debug about{};
  lua_pushvalue(lua, 1);
  lua_getinfo(lua, ">S", &about);
  LineWatch own;
  own.counts = lua_gethook(lua);
  own.source = about.source;
  own.first = about.linedefined;
  own.last = about.lastlinedefined;
  own.reached = about.linedefined;
  // However the call ends; except if the state has installed its own hook because a limit is reached.
  struct Watched {
    lua_State* lua;
    lua_Hook counts;
    int mask;
    int interval;
    ~Watched() {
      watch = nullptr;
      if (lua_gethook(lua) == OnLine) lua_sethook(lua, counts, mask, interval);
    }
  } watched{lua, own.counts, lua_gethookmask(lua), lua_gethookcount(lua)};
  watch = &own;
  lua_sethook(lua, OnLine, watched.mask | LUA_MASKLINE, watched.interval);
  host.in_where = true;
  lua_call(lua, 2, 2);
  host.in_where = false;
  const bool holds = lua_toboolean(lua, 1) != 0;
  lua_pushboolean(lua, holds ? 1 : 0);
  lua_pushvalue(lua, 2);
  const bool of_file = !own.source.empty() && own.source.front() == '@' && own.reached > 0;
  lua_pushinteger(lua, of_file ? host.Interned(own.source.substr(1), static_cast<std::uint32_t>(own.reached)) : 0);
  return 3;
}

constexpr HostFunction kPointsFunctions[] = {
    {"tracks", Guarded<Tracks>},        {"read", Guarded<Read>},
    {"read_all", Guarded<ReadAll>},     {"pause_reads", Guarded<PauseReads>},
    {"call_where", Guarded<CallWhere>},
};

}  // namespace

void BindPoints(lua_State* lua, Host& host) { AddFunctions(lua, host, kPointsFunctions, std::size(kPointsFunctions)); }

}  // namespace muster
