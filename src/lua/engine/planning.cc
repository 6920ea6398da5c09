#include "lua/engine/planning.h"

#include <algorithm>
#include <cctype>
#include <set>
#include <utility>
#include <vector>

#include "base/values/text_parts.h"
#include "base/values/value_json.h"
#include "lua/state/own_files.h"
#include "lua/state/stack.h"
#include "plan/text/plan_json.h"

namespace muster {
namespace {

// Limit for a key's path, such as environment.set.NAME; each key below repeats the path.
constexpr std::size_t kMaxPath = 1'000;

// Words, strings and symbols of a Lua text, one at a time; comments and blanks are skipped.
class Tokens {
 public:
  explicit Tokens(std::string_view text) : text_(text) { Next(); }

  enum class Kind { kEnd, kName, kString, kSign };
  Kind kind() const { return kind_; }
  std::string_view text() const { return token_; }  // of a string: its content
  std::uint32_t line() const { return line_; }
  bool Is(char sign) const { return kind_ == Kind::kSign && token_[0] == sign; }

  void Next() {
    SkipBlanks();
    if (at_ >= text_.size()) {
      kind_ = Kind::kEnd;
      token_ = {};
      return;
    }
    const char c = text_[at_];
    if (c == '"' || c == '\'') return Quoted(c);
    if (const auto level = LongBracket(at_)) {
      kind_ = Kind::kString;
      return Long(*level);
    }
    const std::size_t begin = at_;
    if (IsNamePart(c)) {
      while (at_ < text_.size() && IsNamePart(text_[at_])) ++at_;
      kind_ = IsDigit(c) ? Kind::kSign : Kind::kName;
    } else {
      kind_ = Kind::kSign;
      ++at_;
      // "==" is not an assignment.
      if (c == '=' && at_ < text_.size() && text_[at_] == '=') ++at_;
    }
    token_ = text_.substr(begin, at_ - begin);
  }

 private:
  static bool IsNamePart(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

  void Skip(std::size_t count) {
    for (; count > 0 && at_ < text_.size(); --count) line_ += text_[at_++] == '\n' ? 1 : 0;
  }

  // The level of the long bracket that opens there, if any.
  std::optional<std::size_t> LongBracket(std::size_t at) const {
    if (at >= text_.size() || text_[at] != '[') return std::nullopt;
    std::size_t level = 0;
    while (at + 1 + level < text_.size() && text_[at + 1 + level] == '=') ++level;
    const bool opens = at + 1 + level < text_.size() && text_[at + 1 + level] == '[';
    return opens ? std::optional(level) : std::nullopt;
  }

  void Long(std::size_t level) {
    const std::string close = "]" + std::string(level, '=') + "]";
    const std::size_t begin = at_ + level + 2;
    const std::size_t end = std::min(text_.find(close, begin), text_.size());
    token_ = text_.substr(std::min(begin, text_.size()), end - std::min(begin, end));
    Skip(end - at_ + close.size());
  }

  void Quoted(char quote) {
    const std::size_t begin = at_ + 1;
    std::size_t end = begin;
    while (end < text_.size() && text_[end] != quote && text_[end] != '\n') end += text_[end] == '\\' ? 2 : 1;
    end = std::min(end, text_.size());
    kind_ = Kind::kString;
    token_ = text_.substr(begin, end - begin);
    Skip(end - at_ + 1);
  }

  void SkipBlanks() {
    while (at_ < text_.size()) {
      if (std::isspace(static_cast<unsigned char>(text_[at_])) != 0) {
        Skip(1);
      } else if (text_.substr(at_).starts_with("--")) {
        if (const auto level = LongBracket(at_ + 2)) {
          at_ += 2;
          Long(*level);
        } else {
          Skip(std::min(text_.find('\n', at_), text_.size()) - at_);
        }
      } else {
        return;
      }
    }
  }

  std::string_view text_;
  std::size_t at_ = 0;
  std::uint32_t line_ = 1;
  Kind kind_ = Kind::kEnd;
  std::string_view token_;
};

// The name of a field "name =" or "["name"] =" that begins here; the tokens are then after the '='.
std::string KeyAt(Tokens& tokens) {
  if (tokens.kind() == Tokens::Kind::kName) {
    const std::string name(tokens.text());
    tokens.Next();
    if (!tokens.Is('=') || tokens.text() != "=") return {};
    tokens.Next();
    return name;
  }
  if (!tokens.Is('[')) return {};
  tokens.Next();
  if (tokens.kind() != Tokens::Kind::kString) return {};
  const std::string name(tokens.text());
  tokens.Next();
  if (!tokens.Is(']')) return {};
  tokens.Next();
  if (!tokens.Is('=')) return {};
  tokens.Next();
  return name;
}

}  // namespace

std::map<std::string, std::uint32_t> KeyLines(std::string_view text, std::uint32_t line) {
  std::map<std::string, std::uint32_t> lines;
  Tokens tokens(text);
  while (tokens.kind() != Tokens::Kind::kEnd && (tokens.line() < line || !tokens.Is('{'))) tokens.Next();
  struct Table {
    std::string prefix;  // prefix of its keys
    bool known = true;
  };
  std::vector<Table> open;
  std::string key;         // the field whose value comes next
  bool begins = false;     // a field may begin here
  int brackets = 0;        // number of open '(': their content has no fields
  std::vector<int> outer;  // of the enclosing tables
  while (tokens.kind() != Tokens::Kind::kEnd) {
    if (begins && brackets == 0) {
      begins = false;
      const std::uint32_t at = tokens.line();
      key = KeyAt(tokens);
      if (!key.empty() && open.back().known && open.back().prefix.size() + key.size() <= kMaxPath) {
        lines.emplace(open.back().prefix + key, at);
      }
      if (!key.empty()) continue;
      if (tokens.kind() == Tokens::Kind::kEnd) break;
    }
    if (tokens.Is('{')) {
      const bool known = open.empty() || (open.back().known && !key.empty() && brackets == 0 &&
                                          open.back().prefix.size() + key.size() <= kMaxPath);
      open.push_back({open.empty() || !known ? "" : open.back().prefix + key + ".", known});
      outer.push_back(brackets);
      brackets = 0;
      begins = true;
      key.clear();
    } else if (tokens.Is('}')) {
      brackets = outer.back();
      outer.pop_back();
      open.pop_back();
      if (open.empty()) break;
    } else if (tokens.Is('(')) {
      ++brackets;
    } else if (tokens.Is(')')) {
      --brackets;
    } else if (tokens.Is(',') || tokens.Is(';')) {
      begins = true;
      key.clear();
    }
    tokens.Next();
  }
  return lines;
}

void ReportSiteVariables(Host& host) {
  const Site& site = host.request->site;
  const auto place_of = [&](const std::string& field) {
    const auto place = site.places.find(field);
    return place == site.places.end() ? Place{} : place->second;
  };
  for (auto& [role, sources] : host.provenance) {
    for (const auto& [name, value] : site.environment.set) {
      sources.emplace(name, VariableSource{Layer::kSite, place_of("environment.set." + name)});
    }
    for (const std::string& name : site.environment.unset) {
      sources.emplace(name, VariableSource{Layer::kSite, place_of("environment.unset")});
    }
  }
}

std::optional<SiteFileTable> ReadSiteTable(lua_State* lua, Host& host, int muster, int returned) {
  lua_getfield(lua, muster, "contents");
  lua_pushvalue(lua, returned);
  lua_pushliteral(lua, "a site file");
  lua_call(lua, 2, 1);
  const Place place = host.fallback;
  const bool page = std::get<TableTask>(host.request->task).engine_page;
  if (page && lua_isnil(lua, -1) && lua_istable(lua, returned)) lua_pushvalue(lua, returned);
  if (page && (!lua_istable(lua, -1) || !lua_rawequal(lua, -1, returned))) {
    host.Report(Error("engine", {host.request->recipe_file, 0}, "the file returns no page of an engine",
                      "end it with: return { name = \"…\", … }"));
    Stop(lua);
  }
  if (lua_isnil(lua, -1)) {
    host.Report(Error("site", {host.request->recipe_file, 0}, "the file returns no facts about a site",
                      "end it with: return muster.site { … }"));
    Stop(lua);
  }
  SiteFileTable site;
  std::string why;
  if (!ToValue(lua, -1, site.table, why)) {
    host.Report(Error("site", place, (page ? "the page: " : "muster.site: ") + why,
                      "it holds texts, numbers and tables of them"));
    Stop(lua);
  }
  site.lines = KeyLines(host.request->recipe_text, std::max<std::uint32_t>(place.line, 1));
  return site;
}

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

namespace {

// Removes nulls, so that rules can test `process.rank == nil`.
void DropNulls(Value& value) {
  if (auto* map = std::get_if<Value::Map>(&value.data())) {
    std::erase_if(*map, [](const auto& field) { return field.second.IsNull(); });
    for (auto& [name, held] : *map) DropNulls(held);
  } else if (auto* list = std::get_if<Value::List>(&value.data())) {
    for (Value& held : *list) DropNulls(held);
  }
}

}  // namespace

void JudgePlan(lua_State* lua, Host& host, int rules) {
  const EvaluationRequest& request = *host.request;
  if (request.rules.empty() || HasErrors(host.diagnostics)) return;
  auto plan = ValueFromJsonText(PlanToJson(host.plan, Value(Value::List{})), kMaxPlanJsonMemory);
  if (!plan) {
    host.Report(Error("policy", {}, "the plan cannot be shown to the rules of the site: " + plan.error()));
    return;
  }
  auto& fields = std::get<Value::Map>(plan->data());
  fields.erase("inputs");  // they are known only after the evaluation
  fields.erase("id");
  Value::Map cluster;
  std::int64_t devices = 0;
  std::int64_t least = host.plan.hosts.empty() ? 0 : std::int64_t{host.plan.hosts.front().devices};
  for (const PlanHost& each : host.plan.hosts) {
    devices += each.devices;
    least = std::min(least, std::int64_t{each.devices});
  }
  cluster["hosts"] = Value(static_cast<std::int64_t>(host.plan.hosts.size()));
  cluster["devices"] = Value(devices);
  cluster["devices_per_host"] = Value(least);
  cluster["host_memory"] = Value(static_cast<std::int64_t>(request.site.host_memory_bytes));
  fields["cluster"] = Value(std::move(cluster));
  DropNulls(*plan);
  const std::string path = std::string("@") + kRulesLibrary + "/" + request.rules;
  host.fallback = {host.FileBeside(path), 1};
  lua_rawgeti(lua, LUA_REGISTRYINDEX, rules);
  lua_getfield(lua, -1, "judge");
  PushText(lua, path);
  PushValue(lua, *plan);
  lua_call(lua, 2, 0);
}

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
                                        request.depth() > EvaluationDepth::kParameters, environment, problems);
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
