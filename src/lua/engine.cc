#include "lua/engine.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "base/shell_quote.h"
#include "base/suggest.h"
#include "base/units.h"
#include "lua/declared.h"
#include "lua/host.h"
#include "lua/host_function.h"
#include "lua/load_schema.h"
#include "lua/own_chunk.h"
#include "lua/own_modules.h"
#include "lua/resolve.h"
#include "lua/site_rules.h"
#include "lua/site_table.h"
#include "lua/stack.h"
#include "plan/fold.h"

namespace muster {

struct LoadedRecipe {
  LoadedRecipe(const StateLimits& limits, LastPlace* last_place) : state(limits, last_place) { host.state = &state; }

  State state;
  Host host;
  OwnModules modules;
  bool is_prepared = false;
  bool is_read = false;
  int recipe = LUA_NOREF;                  // in the registry
  std::optional<SiteFileTable> site_file;  // in the place of a recipe, if that was asked for
};

namespace {

// One request on its way to its answer.
struct Evaluation {
  Host& host;
  const OwnModules& modules;
  int recipe = LUA_NOREF;  // in the registry
  EvaluationAnswer answer = {};
  ParameterNames names = ParameterNames({});
  std::vector<Override> unknown = {};  // overrides that name no parameter
};

constexpr const char* kNestedTooDeeply =
    "the recipe's calls are nested too deeply, or it failed while it handled an error of its own";

// How the user's functions came to the place of the error: one note per call, at most three.
void AddCallers(lua_State* lua, Diagnostic& diagnostic) {
  constexpr std::size_t kMostCallers = 3;
  constexpr int kMostLevels = 200;  // finding a level is a walk to it: a deep recursion is not walked whole
  lua_Debug frame;
  Place last;  // the blamed place, once its frame was found: error(message, 2) passes over frames below it
  for (int level = 0;
       diagnostic.notes.size() < kMostCallers && level < kMostLevels && lua_getstack(lua, level, &frame) != 0;
       ++level) {
    lua_getinfo(lua, "Sl", &frame);
    if (frame.source[0] != '@' || frame.currentline < 1) continue;
    const Place place{frame.source + 1, static_cast<std::uint32_t>(frame.currentline)};
    if (last.file.empty() ? place != diagnostic.place : place == last) continue;
    if (!last.file.empty()) diagnostic.notes.push_back({"called here", place});
    last = place;
  }
}

// Turns whatever was thrown into a diagnostic while the stack still tells where.
int OnError(lua_State* lua) {
  Host& host = Host::Of(lua);
  if (IsStop(lua, 1)) return 1;
  std::string message;
  if (!ToExactText(lua, 1, message)) {
    message = std::string("the recipe threw a ") + luaL_typename(lua, 1) + " as an error";
    if (luaL_getmetafield(lua, 1, "__tostring") != 0) {
      lua_pushvalue(lua, 1);
      std::string text;  // what it says, if it can be asked at all
      if (lua_pcall(lua, 1, 1, 0) == 0 && ToExactText(lua, -1, text)) message = text;
    }
  }
  // Whether the interpreter still reaches this handler when its stack overflows depends on the very instruction; what
  // people are told must not.
  lua_Debug deep;
  if (message.ends_with("stack overflow") && lua_getstack(lua, 10'000, &deep) != 0) {
    message.replace(message.size() - std::string_view("stack overflow").size(), std::string::npos, kNestedTooDeeply);
  }
  const bool limit = host.state->out_of_instructions();
  Diagnostic diagnostic = LocatedError(limit ? "limit" : "lua", message, host.PlaceOf(host.Here(lua)), host.files);
  AddCallers(lua, diagnostic);
  if (!host.current_process.empty()) diagnostic.notes.push_back({"in each of " + host.current_process, {}});
  host.Report(std::move(diagnostic));
  return 1;
}

std::optional<std::string> TextOf(lua_State* lua, int table, const char* key) {
  lua_getfield(lua, table, key);
  std::string text;
  const bool given = lua_type(lua, -1) == LUA_TSTRING && ToExactText(lua, -1, text);
  lua_pop(lua, 1);
  return given ? std::optional(text) : std::nullopt;
}

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

// Overrides and pins of what is neither a parameter nor derived by the recipe. Told once the recipe has derived its
// values, as far as it came.
void TellUnknown(Host& host, const std::vector<Override>& unknown, const ParameterNames& names,
                 std::vector<DerivedOverride>& not_settable) {
  std::vector<std::string> derived;
  for (const auto& [name, value] : host.plan.derived) derived.push_back(name);
  for (const Override& override : unknown) {
    if (!host.plan.derived.contains(override.name)) {
      host.Report(names.Unknown(override, derived));
      continue;
    }
    const auto place = host.origins.derived.find(override.name);
    const bool by_recipe = place != host.origins.derived.end();
    not_settable.push_back({override.name, override.origin, by_recipe, by_recipe ? place->second : Place{}});
  }
  // Where the recipe did not come to its end, it may not have come to what was pinned.
  if (!host.planning || HasErrors(host.diagnostics)) return;
  derived.clear();
  for (const auto& [name, place] : host.origins.derived) derived.push_back(name);
  for (const Override& pin : host.request->pins) {
    if (host.pins_used.contains(pin.name)) continue;
    const bool parameter = !names.Find(pin.name, false).name.empty();
    host.Report(
        Error("pin", {},
              "--pin " + pin.name + ": " + (parameter ? "this is a parameter" : "the recipe derives no such value"),
              parameter         ? "write " + pin.name + "=… without --pin"
              : derived.empty() ? "job:derive { … } in a recipe derives values"
                                : DidYouMean(pin.name, derived)));
  }
}

void NeedSchema(lua_State* lua, Host& host) {
  if (!host.schema_problems) host.schema_problems = LoadSchemaInto(lua, host.schema);
}

// Names the release and makes the job's context, if the recipe wants one.
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

void ReadLimits(lua_State* lua, Host& host, int recipe, const Place& place) {
  lua_getfield(lua, recipe, "limits");
  const std::pair<const char*, std::uint64_t*> limits[] = {
      {"time", &host.plan.time_limit_ms}, {"start", &host.plan.start_limit_ms}, {"silent", &host.plan.silent_limit_ms}};
  for (const auto& [name, limit] : limits) {
    if (!lua_istable(lua, recipe + 1)) break;
    lua_getfield(lua, recipe + 1, name);
    if (lua_isnil(lua, -1)) continue;
    std::string text;
    auto seconds = ToExactText(lua, -1, text) ? ParseDuration(text) : std::nullopt;
    if (lua_type(lua, -1) == LUA_TNUMBER) seconds = lua_tonumber(lua, -1);
    constexpr double kLongest = 1e9;  // seconds, more than thirty years
    if (seconds && *seconds > 0 && *seconds <= kLongest) {
      *limit = static_cast<std::uint64_t>(std::ceil(*seconds * 1000));
    } else {
      host.Report(Error(
          "format", place,
          std::string("limits.") + name + " is a duration such as \"90s\", \"12h\" or \"1d12h\", got " + Quoted(text)));
    }
  }
  lua_settop(lua, recipe);
}

// A list or map of `p` is a Lua table, so a recipe can write into it; the plan would then not follow from what
// the user chose. Tables of settled values are at the top of the stack.
void CheckParametersAreAsGiven(lua_State* lua, Host& host, const Resolved& resolved, const Place& place) {
  const int table = lua_gettop(lua);
  for (const ParameterState& state : resolved.parameters) {
    if (!state.value || (state.value->AsList() == nullptr && state.value->AsMap() == nullptr)) continue;
    lua_getfield(lua, table, state.parameter.name.c_str());
    Value now;
    std::string why;
    const bool plain = ToValue(lua, -1, now, why);
    lua_settop(lua, table);
    // An empty table is a list and a map.
    const auto settled = plain ? CheckParameter(state.parameter, now, place, "") : Fail(Diagnostics{});
    if (settled && *settled == *state.value) continue;
    host.Report(Error("read_only", place, "the recipe changes its parameter " + state.parameter.name,
                      "parameters are what the user chose; copy the table and change the copy"));
  }
}

// What belongs together: the settled contexts against the processes that were laid out.
void CheckJob(Host& host, const ClusterFacts& cluster) {
  if (!host.context) return;
  JobFacts facts;
  for (const Process& process : host.plan.processes) {
    const Role& role = host.plan.roles[process.role];
    if (role.plays != "worker") continue;
    ProcessFacts& fact = facts.processes.emplace_back();
    fact.name = ProcessName(host.plan, process);
    const auto overlay = host.overlay_of.find(fact.name);
    fact.context = overlay == host.overlay_of.end() ? nullptr : overlay->second;
    fact.rank = process.rank.value_or(process.index);
    fact.local_rank = process.local_rank;
    if (const auto visible = host.visible_devices.find(fact.name); visible != host.visible_devices.end()) {
      fact.visible_devices = visible->second;
    }
    fact.host_devices = host.plan.hosts[process.host].devices;
  }
  std::vector<std::uint32_t> on_host(host.plan.hosts.size());
  for (const Process& process : host.plan.processes) ++on_host[process.host];
  const auto fullest = std::max_element(on_host.begin(), on_host.end());
  facts.processes_on_a_host = fullest == on_host.end() ? 0 : *fullest;
  facts.processes_notes.push_back({"the plan starts " + std::to_string(facts.processes_on_a_host) +
                                       " processes on host " + std::to_string(fullest - on_host.begin()) +
                                       ", scheduler and servers included",
                                   {}});
  facts.workers = static_cast<std::uint32_t>(facts.processes.size());
  facts.workers_notes.push_back(
      {"the plan starts " + std::to_string(facts.workers) + " workers; job.cluster.devices is " + cluster.text, {}});
  host.Report(CheckTogether(*host.context, facts));
  if (HasErrors(host.diagnostics)) return;
  const DerivedSettings derived = DeriveSettings(*host.context, facts);
  if (facts.workers > 0) host.plan.derived.emplace("device_num", derived.device_num.value);
  host.plan.derived.emplace("pipeline_stages", Value(std::int64_t{derived.pipeline_stages}));
}

void CallMakePlan(lua_State* lua, Host& host, int layout, int recipe, const Resolved& resolved, const Place& place) {
  lua_newtable(lua);
  const int parameters = lua_gettop(lua);
  lua_newtable(lua);
  const int variants = lua_gettop(lua);
  for (const ParameterState& state : resolved.parameters) {
    if (!state.value) continue;
    if (state.parameter.variant) {
      lua_pushboolean(lua, 1);
      lua_setfield(lua, variants, state.parameter.name.c_str());
    }
    host.plan.params[state.parameter.name] = *state.value;
    PushText(lua, state.parameter.name);
    PushValue(lua, *state.value);
    lua_rawset(lua, parameters);
  }
  lua_getfield(lua, recipe, "plan");
  if (const Place plan = PlaceOfFunction(lua, -1); plan.line > 0) host.fallback = plan;
  lua_pop(lua, 1);
  lua_rawgeti(lua, LUA_REGISTRYINDEX, layout);
  lua_getfield(lua, -1, "make_plan");
  lua_remove(lua, -2);
  lua_pushvalue(lua, recipe);
  lua_pushvalue(lua, parameters);
  lua_pushvalue(lua, variants);
  Value::Map cluster;
  cluster["hosts"] = Value(resolved.cluster.hosts());
  cluster["devices_per_host"] = Value(resolved.cluster.least_devices());
  cluster["devices"] = Value(resolved.cluster.all_devices());
  Value::List devices_of;
  for (const std::uint32_t devices : resolved.cluster.devices) devices_of.emplace_back(std::int64_t{devices});
  cluster["devices_of"] = Value(std::move(devices_of));
  cluster["host_memory"] = Value(static_cast<std::int64_t>(host.request->site.host_memory_bytes));
  PushValue(lua, Value(std::move(cluster)));
  Value::List args;
  for (const std::string& arg : host.request->args) args.emplace_back(arg);
  PushValue(lua, Value(std::move(args)));
  host.planning = true;
  lua_call(lua, 5, 0);
  lua_settop(lua, parameters);
  CheckParametersAreAsGiven(lua, host, resolved, place);
}

// Loads muster's own files, in a protected call. Argument 1: the LoadedRecipe that is to be.
int LoadModules(lua_State* lua) {
  auto& recipe = *static_cast<LoadedRecipe*>(lua_touserdata(lua, 1));
  StopCollecting(lua);
  recipe.modules = LoadOwnModules(lua, recipe.host);
  CollectAgain(lua);
  return 0;
}

// In a protected call. Argument 1: the LoadedRecipe that is to be.
int LoadSchemaFirst(lua_State* lua) {
  StopCollecting(lua);
  NeedSchema(lua, static_cast<LoadedRecipe*>(lua_touserdata(lua, 1))->host);
  CollectAgain(lua);
  return 0;
}

// Reads the recipe, in a protected call. Argument 1: the LoadedRecipe that it becomes.
int Load(lua_State* lua) {
  auto& read = *static_cast<LoadedRecipe*>(lua_touserdata(lua, 1));
  Host& host = read.host;
  const EvaluationRequest& request = *host.request;
  host.fallback = PlaceOfReturn(request.recipe_text, request.recipe_file);
  lua_rawgeti(lua, LUA_REGISTRYINDEX, read.modules.recipes);
  lua_getfield(lua, -1, "run_first");
  PushText(lua, request.recipe_text);
  PushText(lua, request.recipe_file);
  lua_call(lua, 2, 1);
  const int recipe = lua_gettop(lua);
  lua_rawgeti(lua, LUA_REGISTRYINDEX, read.modules.muster);
  if (request.site_file) {
    read.site_file = ReadSiteTable(lua, host, lua_gettop(lua), recipe);
    return 0;
  }
  lua_getfield(lua, -1, "contents");
  lua_pushvalue(lua, recipe);
  lua_pushliteral(lua, "a recipe");
  lua_call(lua, 2, 1);
  if (lua_isnil(lua, -1)) {
    host.Report(Error("no_recipe", {request.recipe_file, 0}, "the file returns no recipe",
                      "end it with: return muster.recipe { … }"));
    Stop(lua);
  }
  read.recipe = luaL_ref(lua, LUA_REGISTRYINDEX);
  return 0;
}

// Makes what was asked for of the recipe, in a protected call. Argument 1: the Evaluation.
int Answer(lua_State* lua) {
  auto& evaluation = *static_cast<Evaluation*>(lua_touserdata(lua, 1));
  Host& host = evaluation.host;
  const EvaluationRequest& request = *host.request;
  lua_rawgeti(lua, LUA_REGISTRYINDEX, evaluation.recipe);
  const int recipe = lua_gettop(lua);
  lua_getfield(lua, recipe, "place");
  const Place place = host.PlaceOf(static_cast<int>(lua_tointeger(lua, -1)));
  lua_settop(lua, recipe);

  evaluation.answer.name = host.plan.name = TextOf(lua, recipe, "name").value_or("");
  evaluation.answer.doc = host.plan.doc = TextOf(lua, recipe, "doc").value_or("");
  host.plan.framework = TextOf(lua, recipe, "framework").value_or("none");
  lua_rawgeti(lua, LUA_REGISTRYINDEX, evaluation.modules.recipes);
  lua_getfield(lua, -1, "settle");
  lua_remove(lua, -2);
  lua_pushvalue(lua, recipe);
  Value::List profiles;
  for (const std::string& profile : request.profiles) profiles.emplace_back(profile);
  PushValue(lua, Value(std::move(profiles)));
  lua_call(lua, 2, 1);
  const Declared declared = ReadDeclared(lua, host, recipe + 1, place);
  const ParameterNames names(declared.parameters);
  evaluation.answer.profiles = ReadProfiles(lua, host, recipe + 1);
  host.plan.profiles = request.profiles;
  lua_settop(lua, recipe);

  const auto environment = [&](const std::string& name) -> std::optional<std::string> {
    const Reply reply = (*host.ask)({Question::Kind::kVariable, name});
    return reply.given ? std::optional(reply.text) : std::nullopt;
  };
  Diagnostics problems;
  Resolved resolved =
      ResolveParameters(declared, names, WithFileContents(host, declared, names), request.site, request.devices,
                        request.depth > EvaluationDepth::kParameters, environment, problems);
  host.Report(problems);
  evaluation.answer.parameters = resolved.parameters;
  evaluation.answer.hosts = static_cast<std::uint32_t>(resolved.cluster.hosts());
  evaluation.answer.devices_per_host = static_cast<std::uint32_t>(resolved.cluster.least_devices());
  evaluation.unknown = std::move(resolved.unknown);
  evaluation.names = names;
  if (request.depth == EvaluationDepth::kParameters) return 0;
  ReadLimits(lua, host, recipe, place);
  if (HasErrors(host.diagnostics)) Stop(lua);

  host.plan.secrets = resolved.secrets;
  host.plan.device_use = request.devices;
  for (std::size_t i = 0; i < resolved.cluster.devices.size(); ++i) {
    const std::string name = resolved.cluster.named.empty() ? std::string() : resolved.cluster.named[i].name;
    host.plan.hosts.push_back({"host" + std::to_string(i), resolved.cluster.devices[i], name});
  }
  host.origins.cluster = resolved.cluster.numbers;
  MakeContext(lua, host, recipe, place);
  host.plan.site_environment = request.site.environment;
  CallMakePlan(lua, host, evaluation.modules.layout, recipe, resolved, place);
  if (request.depth < EvaluationDepth::kPlan) return 0;
  AddShippedFiles(host);
  CheckJob(host, resolved.cluster);
  TellWrittenPaths(host);
  TellSiteVariables(host);
  JudgePlan(lua, host, evaluation.modules.rules);
  return 0;
}

// What is wrong that no message handler told, and that a recipe's pcall may have caught.
void TellLimits(Host& host, const StateLimits& limits, const LastPlace* last_place, bool failed) {
  const Place noted = last_place != nullptr ? last_place->Read() : Place{};
  const Place last = noted.line > 0 ? noted : host.fallback;
  const bool limit_told = std::any_of(host.diagnostics.begin(), host.diagnostics.end(),
                                      [](const Diagnostic& diagnostic) { return diagnostic.kind == "limit"; });
  if (host.state->out_of_memory() && !limit_told) {
    host.Report(Error("limit", last,
                      "the recipe used more than " + std::to_string(limits.memory_bytes >> 20) + " MiB of memory"));
  } else if (host.state->out_of_instructions() && !limit_told) {
    host.Report(Error("limit", last, host.state->InstructionsText()));
  } else if (failed && !HasErrors(host.diagnostics)) {
    host.Report(Error("lua", last, kNestedTooDeeply));
  }
}

}  // namespace

Engine::Engine(const Ask& ask, const StateLimits& limits, LastPlace* last_place, OpenedInterpreter opened)
    : ask_(ask), limits_(limits), last_place_(last_place), opened_(opened) {}

Engine::~Engine() = default;

bool Engine::Call(lua_CFunction function, void* argument) {
  lua_State* lua = recipe_->state.lua();
  lua_pushlightuserdata(lua, &recipe_->host);
  lua_pushcclosure(lua, Guarded<OnError>, 1);
  lua_pushcfunction(lua, function);
  lua_pushlightuserdata(lua, argument);
  const int status = lua_pcall(lua, 1, 0, -3);
  lua_settop(lua, 0);
  return status == 0;
}

void Engine::NoteAt(LastPlace* last_place) {
  last_place_ = last_place;
  if (recipe_ != nullptr) recipe_->state.NoteAt(last_place);
}

void Engine::Prepare(bool schema_too) {
  if (recipe_ != nullptr) return;
  recipe_ = std::make_unique<LoadedRecipe>(limits_, last_place_);
  if (opened_ != nullptr) Call(opened_, nullptr);
  recipe_->is_prepared = Call(Guarded<LoadModules>, recipe_.get());
  if (schema_too && recipe_->is_prepared) recipe_->is_prepared = Call(Guarded<LoadSchemaFirst>, recipe_.get());
}

EvaluationAnswer Engine::Evaluate(const EvaluationRequest& request) {
  if (last_place_ != nullptr) last_place_->Note("", 0);
  Prepare();
  const bool is_new = recipe_->host.request == nullptr;
  Host& host = recipe_->host;
  host.request = &request;
  host.ask = &ask_;
  if (is_new) {
    recipe_->is_read = recipe_->is_prepared && Call(Guarded<Load>, recipe_.get());
    host.KeepWhatWasRead();
  } else {
    recipe_->state.BeginAgain();
    host.BeginPlan();
  }
  const std::size_t files = host.files.size();
  Evaluation evaluation{host, recipe_->modules, recipe_->recipe};
  const bool done = recipe_->is_read && (request.site_file || Call(Guarded<Answer>, &evaluation));
  EvaluationAnswer& answer = evaluation.answer;
  TellUnknown(host, evaluation.unknown, evaluation.names, answer.not_settable);
  if (request.depth == EvaluationDepth::kDerived) {
    host.diagnostics.clear();
    for (const auto& [name, unused] : host.origins.derived) answer.derived.emplace(name, host.plan.derived.at(name));
  }
  TellLimits(host, limits_, last_place_, !done);
  answer.diagnostics = Folded(host.diagnostics);
  if (request.site_file && !HasErrors(host.diagnostics)) answer.site_file = recipe_->site_file;
  const bool planned = !request.site_file && request.depth >= EvaluationDepth::kJob && answer.not_settable.empty();
  if (planned && !HasErrors(host.diagnostics)) {
    Fold(host.plan);
    answer.plan = std::move(host.plan);
    answer.provenance = std::move(host.provenance);
    if (host.context) {
      for (const auto& [key, setting] : host.context->own()) host.origins.context[key] = setting.source;
    }
    answer.origins = std::move(host.origins);
  }
  // An interpreter that ran into its limits refuses everything from then on. A file that was first read in the plan
  // function has run: what its own lines reported and shipped would be missing from the next plan.
  const bool spoilt = recipe_->state.out_of_memory() || recipe_->state.out_of_instructions();
  if (spoilt || files != host.files.size()) spoilt_ = std::move(recipe_);
  return std::move(evaluation.answer);
}

}  // namespace muster
