#include "lua/engine/engine.h"

#include <algorithm>
#include <cmath>
#include <ctime>

#include "base/system/host_name.h"
#include "base/values/diagnostics.h"
#include "base/values/number_text.h"
#include "base/values/quoting.h"
#include "evaluation/exchange/evaluation_archive.h"
#include "evaluation/resolve/resolve.h"
#include "evaluation/resolve/settle_space.h"
#include "lua/bind/bind.h"
#include "lua/engine/planning.h"
#include "lua/engine/recipe_sweep.h"
#include "lua/host/host.h"
#include "lua/host/lua_errors.h"
#include "lua/state/own_files.h"
#include "lua/state/stack.h"
#include "lua/state/state.h"
#include "plan/check/named_machines.h"
#include "plan/plan/roles.h"
#include "plan/text/plan_text.h"
#include "wire/archive/archive.h"

namespace muster {

struct LoadedRecipe {
  LoadedRecipe(const StateLimits& limits, LastPlace* last_place) : state(limits, last_place) { host.state = &state; }

  State state;
  Host host;
  OwnModules modules;
  bool is_prepared = false;
  bool is_read = false;
  int recipe = LUA_NOREF;  // in the registry
  // In the registry, if the file returns a sweep: its fields except the recipe, and its condition, if it has one.
  int sweep = LUA_NOREF;
  int where = LUA_NOREF;
  std::optional<SiteFileTable> site_file;  // instead of a recipe, if requested
};

namespace {

// The state of one request.
struct Evaluation {
  Host& host;
  const OwnModules& modules;
  int recipe = LUA_NOREF;  // in the registry
  int sweep = LUA_NOREF;   // LoadedRecipe::sweep
  int where = LUA_NOREF;
  EvaluationAnswer answer = {};
  ParameterNames names = ParameterNames({});
  std::vector<Override> unknown = {};  // overrides that name no parameter
};

// Processor time for the plans of several points after the first one, so that the caller gets these soon. Not the time
// of a clock: on a busy machine as many are returned at once as on a quiet one.
constexpr std::clock_t kPointsTime = CLOCKS_PER_SEC / 20;

// Reports overrides and pins of values that are neither parameters nor derived by the recipe. Called after the recipe
// has derived its values, even if it failed.
void ReportUnknown(Host& host, const std::vector<Override>& unknown, const ParameterNames& names,
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
  // A recipe that failed may not have reached the pinned value.
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

// Checks that involve several settings: the settled contexts against the processes that were laid out.
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
    if (const auto id = host.device_ids.find(fact.name); id != host.device_ids.end()) {
      fact.device = id->second;
      facts.devices_by_id = facts.devices_by_id || !fact.visible_devices;
    }
    // With --devices the number of the host's devices is unknown.
    if (host.plan.device_use.given.empty()) fact.host_devices = host.plan.hosts[process.host].devices;
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

void ReadLimits(lua_State* lua, Host& host, int recipe, const Place& place) {
  lua_getfield(lua, recipe, "limits");
  const std::pair<const char*, std::uint64_t*> limits[] = {
      {"time", &host.plan.time_limit_ms}, {"start", &host.plan.start_limit_ms}, {"silent", &host.plan.silent_limit_ms}};
  for (const auto& [name, limit] : limits) {
    if (!lua_istable(lua, recipe + 1)) break;
    lua_getfield(lua, recipe + 1, name);
    if (lua_isnil(lua, -1)) continue;
    std::string text;
    const auto seconds = ToExactText(lua, -1, text) ? ParseDuration(text) : std::nullopt;
    constexpr double kMax = 1e9;  // seconds, more than thirty years
    if (seconds && *seconds > 0 && *seconds <= kMax) {
      *limit = static_cast<std::uint64_t>(std::ceil(*seconds * 1000));
    } else {
      host.Report(Error("format", place,
                        std::string("limits.") + name +
                            " must be a duration such as \"90s\", \"12h\" or \"1d12h\", got " + Quoted(text),
                        DurationHint(text, "")));
    }
  }
  lua_settop(lua, recipe);
}

// Whether the file's result, at `returned`, is a sweep; the recipe is then that of its trials, with the fixed values.
// muster's function `contents` is below the value on top of the stack.
bool ReadSweepFile(lua_State* lua, LoadedRecipe& read, int returned) {
  const auto contents = [&](const char* kind) {
    lua_rawgeti(lua, LUA_REGISTRYINDEX, read.modules.muster);
    lua_getfield(lua, -1, "contents");
    lua_remove(lua, -2);
    lua_pushvalue(lua, returned);
    lua_pushstring(lua, kind);
    lua_call(lua, 2, 1);
    return lua_gettop(lua);
  };
  const int sweep = contents("a sweep");
  if (lua_isnil(lua, sweep)) return false;
  lua_getfield(lua, sweep, "plain");
  read.sweep = luaL_ref(lua, LUA_REGISTRYINDEX);
  lua_getfield(lua, sweep, "where");
  if (lua_isnil(lua, -1)) {
    lua_pop(lua, 1);
  } else {
    read.where = luaL_ref(lua, LUA_REGISTRYINDEX);
  }
  lua_getfield(lua, sweep, "recipe");
  returned = lua_gettop(lua);
  contents("a recipe");
  read.recipe = luaL_ref(lua, LUA_REGISTRYINDEX);
  return true;
}

// The names of `fixed` of the sweep on top of the stack.
std::vector<std::string> FixedNames(lua_State* lua) {
  std::vector<std::string> names;
  lua_getfield(lua, -1, "fixed");
  for (int i = 1; i <= static_cast<int>(lua_objlen(lua, -1)); ++i) {
    lua_rawgeti(lua, -1, i);
    if (lua_type(lua, -1) == LUA_TSTRING) names.emplace_back(lua_tostring(lua, -1));
    lua_pop(lua, 1);
  }
  lua_pop(lua, 1);
  return names;
}

// The sweep that the file describes, or the sweep over the words of the command line.
SweepDescription DescribeSweep(lua_State* lua, const Evaluation& evaluation, const Declared& declared) {
  Host& host = evaluation.host;
  const EvaluationRequest& request = *host.request;
  const auto& words = std::get<SweepTask>(request.task).words;
  const Place file{request.recipe_file, 0};
  const bool has_sweep = evaluation.sweep != LUA_NOREF;
  SweepDescription sweep;
  std::vector<std::string> fixed;
  if (has_sweep && words) {
    host.Report(Error("usage", file, "the file describes the space of its sweep, and --grid or --zip another one",
                      "sweep over the recipe itself, or change the file"));
  } else if (has_sweep) {
    lua_rawgeti(lua, LUA_REGISTRYINDEX, evaluation.sweep);
    sweep = ReadSweep(lua, host, lua_gettop(lua), declared, evaluation.names);
    fixed = FixedNames(lua);
    lua_pop(lua, 1);
    sweep.has_where = evaluation.where != LUA_NOREF;
  } else if (words) {
    sweep.name = evaluation.answer.name;
    sweep.space = *words;
    Diagnostics problems;
    SettleSpace(sweep.space, true, declared, evaluation.names, problems);
    host.Report(problems);
  } else {
    host.Report(Error("no_sweep", file, "the file returns a recipe, and no sweep",
                      "--grid NAME=1,2,4 tries values of a parameter; a file ends with return muster.sweep { recipe = "
                      "…, space = … }"));
  }
  if (const auto& seeds = std::get<SweepTask>(request.task).seeds) sweep.sampler.seeds = seeds;
  if (sweep.sampler.seeds) {
    sweep.space = WithSeeds(std::move(sweep.space), *sweep.sampler.seeds);
    Diagnostics problems;
    SettleSpace(sweep.space.parts.back(), false, declared, evaluation.names, problems);
    host.Report(problems);
  }
  for (Space chosen : std::get<SweepTask>(request.task).chosen) {
    Diagnostics problems;
    SettleSpace(chosen, true, declared, evaluation.names, problems);
    host.Report(problems);
    sweep.seed_points.push_back(std::move(chosen.fixed));
    sweep.seed_places.emplace_back();
  }
  if (HasErrors(host.diagnostics)) return sweep;
  const auto space = CompiledSpace::Of(sweep.space);
  if (!space) return sweep;  // reported when the whole sweep is checked
  // Its name in points, if it is one of them.
  const auto swept = [&](const std::string& written) -> std::optional<std::string> {
    std::string name = NameInPoints(evaluation.names.Find(written, false).name, evaluation.names);
    if (!std::binary_search(space->names().begin(), space->names().end(), name)) return std::nullopt;
    return name;
  };
  for (const std::string& written : fixed) {
    if (const auto name = swept(written)) {
      host.Report(Error("sweep", sweep.space.place, *name + " is swept, and fixed as well",
                        "leave it out of fixed, or of the space"));
    }
  }
  for (const Override& override : request.overrides) {
    const auto found = swept(override.name);
    if (!found) continue;
    const std::string& name = *found;
    host.Report(Error("usage", {}, name + " is swept, and given as well (from the " + OriginText(override) + ")",
                      "leave it out: each trial has a value of its own"));
  }
  return sweep;
}

// Loads muster's own files, in a protected call. Argument 1: the LoadedRecipe to fill.
int LoadModules(lua_State* lua) {
  auto& recipe = *static_cast<LoadedRecipe*>(lua_touserdata(lua, 1));
  recipe.modules = LoadOwnModules(lua, recipe.host);
  return 0;
}

// In a protected call. Argument 1: the LoadedRecipe to fill.
int LoadSchemaFirst(lua_State* lua) {
  NeedSchema(lua, static_cast<LoadedRecipe*>(lua_touserdata(lua, 1))->host);
  return 0;
}

// Reads the recipe, in a protected call. Argument 1: the LoadedRecipe to fill.
int LoadEngine(lua_State* lua) {
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
  if (std::holds_alternative<TableTask>(request.task)) {
    read.site_file = ReadSiteTable(lua, host, lua_gettop(lua), recipe);
    return 0;
  }
  lua_getfield(lua, -1, "contents");
  lua_pushvalue(lua, recipe);
  lua_pushliteral(lua, "a recipe");
  lua_call(lua, 2, 1);
  if (lua_isnil(lua, -1)) {
    lua_settop(lua, recipe + 1);
    if (ReadSweepFile(lua, read, recipe)) return 0;
    host.Report(Error("no_recipe", {request.recipe_file, 0}, "the file returns no recipe",
                      "end it with: return muster.recipe { … }"));
    Stop(lua);
  }
  read.recipe = luaL_ref(lua, LUA_REGISTRYINDEX);
  return 0;
}

// Computes the result of the request, in a protected call. Argument 1: the Evaluation.
int Answer(lua_State* lua) {
  auto& evaluation = *static_cast<Evaluation*>(lua_touserdata(lua, 1));
  Host& host = evaluation.host;
  const EvaluationRequest& request = *host.request;
  lua_rawgeti(lua, LUA_REGISTRYINDEX, evaluation.recipe);
  const int recipe = lua_gettop(lua);
  const Place place = PlaceOfRecipe(lua, host, recipe);

  evaluation.answer.name = host.plan.name = TextOf(lua, recipe, "name").value_or("");
  evaluation.answer.doc = host.plan.doc = TextOf(lua, recipe, "doc").value_or("");
  host.plan.framework = TextOf(lua, recipe, "framework").value_or("none");
  const Declared declared = SettleRecipe(lua, host, evaluation.modules, recipe, place, [&](int settled) {
    evaluation.answer.profiles = ReadProfiles(lua, host, settled);
    evaluation.answer.engine_settings = ReadEngineFields(lua, host, settled);
    evaluation.answer.metrics = ReadLogMetrics(lua, host, settled, evaluation.answer.metrics_place);
  });
  const ParameterNames names(declared.parameters);
  host.plan.profiles = request.profiles;
  Resolved resolved = ResolveRequest(host, declared, names, {});
  evaluation.answer.parameters = resolved.parameters;
  evaluation.answer.hosts = static_cast<std::uint32_t>(resolved.cluster.hosts());
  evaluation.answer.devices_per_host = static_cast<std::uint32_t>(resolved.cluster.least_devices());
  evaluation.unknown = std::move(resolved.unknown);
  evaluation.names = names;
  if (std::holds_alternative<SweepTask>(request.task)) {
    evaluation.answer.sweep = DescribeSweep(lua, evaluation, declared);
    return 0;
  }
  if (request.depth() == EvaluationDepth::kParameters) return 0;
  ReadLimits(lua, host, recipe, place);
  if (HasErrors(host.diagnostics)) Stop(lua);

  BeginJob(lua, host, recipe, place, resolved);
  CallLayout(lua, host, evaluation.modules, "make_plan", recipe, resolved, place);
  if (request.depth() < EvaluationDepth::kPlan) return 0;
  AddShippedFiles(host);
  CheckJob(host, resolved.cluster);
  std::vector<KnownHost> known;
  for (const PlanHost& each : host.plan.hosts) known.push_back({each.name, IsAddress(each.name) ? each.name : ""});
  host.Report(CheckNamedMachines(host.plan, known, place));
  ReportWrittenPaths(host);
  ReportSiteVariables(host);
  JudgePlan(lua, host, evaluation.modules.rules);
  return 0;
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
  const auto* ids = std::get_if<PlanIdsTask>(&request.task);
  if (ids == nullptr) return EvaluateOnce(request);
  std::clock_t first_at = 0;
  EvaluationRequest one = request;
  one.task = PlanTask();
  EvaluationAnswer answer;
  for (const Point& point : ids->points) {
    one.overrides = request.overrides;
    for (const auto& [name, value] : point) one.overrides.push_back(PointOverride(name, value));
    EvaluationAnswer made = EvaluateOnce(one);
    if (!made.plan && answer.plan_ids.empty()) return made;
    if (!made.plan) break;  // the next request begins with this point
    answer.plan_ids.push_back(PlanId(*made.plan));
    if (answer.plan_ids.size() == 1) first_at = std::clock();
    if (std::clock() - first_at >= kPointsTime) break;
  }
  return answer;
}

EvaluationAnswer Engine::EvaluateOnce(const EvaluationRequest& request) {
  if (last_place_ != nullptr) last_place_->Note("", 0);
  Prepare();
  const bool is_new = recipe_->host.request == nullptr;
  Host& host = recipe_->host;
  host.request = &request;
  host.ask = &ask_;
  if (is_new) {
    recipe_->is_read = recipe_->is_prepared && Call(Guarded<LoadEngine>, recipe_.get());
    host.KeepWhatWasRead();
  } else {
    recipe_->state.BeginAgain();
    host.BeginPlan();
  }
  const std::size_t files = host.files.size();
  Evaluation evaluation{host, recipe_->modules, recipe_->recipe, recipe_->sweep, recipe_->where};
  bool done = recipe_->is_read;
  const auto* judged = std::get_if<JudgeTask>(&request.task);
  const bool is_table = std::holds_alternative<TableTask>(request.task);
  if (done && judged != nullptr) {
    Judge(request, *judged, evaluation.answer);
  } else if (done && !is_table) {
    done = Call(Guarded<Answer>, &evaluation);
  }
  EvaluationAnswer& answer = evaluation.answer;
  ReportUnknown(host, evaluation.unknown, evaluation.names, answer.not_settable);
  if (request.depth() == EvaluationDepth::kDerived) {
    host.diagnostics.clear();
    for (const auto& [name, unused] : host.origins.derived) answer.derived.emplace(name, host.plan.derived.at(name));
  }
  if (judged == nullptr) ReportLimits(host, limits_, last_place_, !done);
  answer.diagnostics = Folded(host.diagnostics);
  if (is_table && !HasErrors(host.diagnostics)) answer.site_file = recipe_->site_file;
  const auto* plan = std::get_if<PlanTask>(&request.task);
  const bool planned = plan != nullptr && plan->depth >= EvaluationDepth::kJob && answer.not_settable.empty();
  if (planned && !HasErrors(host.diagnostics)) {
    Fold(host.plan);
    answer.plan = std::move(host.plan);
    answer.provenance = std::move(host.provenance);
    if (host.context) {
      for (const auto& [key, setting] : host.context->own()) host.origins.context[key] = setting.source;
    }
    answer.origins = std::move(host.origins);
  }
  // An interpreter that has reached its limits refuses every call. A file first loaded in the plan function has already
  // run: its reports and shipped files would be missing from the next plan.
  const bool spoilt = recipe_->state.out_of_memory() || recipe_->state.out_of_instructions();
  if (spoilt || files != host.files.size()) spoilt_ = std::move(recipe_);
  return std::move(evaluation.answer);
}

void Engine::Judge(const EvaluationRequest& request, const JudgeTask& task, EvaluationAnswer& answer) {
  Host& host = recipe_->host;
  // Verdicts are valid for requests that differ only in the requested points.
  EvaluationRequest same = request;
  std::get<JudgeTask>(same.task).request = {};
  std::string of = Archived(same);
  if (judge_ == nullptr || judged_ != of) {
    auto made = PointJudge::Of(task.sweep);
    if (!made) return host.Report(made.error());
    judge_ = *std::move(made);
    judged_ = std::move(of);
  }
  const auto spoilt = [this] { return recipe_->state.out_of_memory() || recipe_->state.out_of_instructions(); };
  JudgingInterpreter interpreter{host, recipe_->modules, recipe_->recipe, recipe_->where, {}, {}, spoilt};
  interpreter.call = [&](lua_CFunction function, void* argument) {
    const bool done = Call(function, argument);
    ReportLimits(host, limits_, last_place_, !done);
    return done;
  };
  interpreter.begin = [&] {
    recipe_->state.BeginAgain();
    host.BeginPlan();
  };
  auto judgement = judge_->Judge(interpreter, task.request);
  host.BeginPlan();
  if (judgement) {
    answer.judgement = *std::move(judgement);
  } else {
    host.Report(judgement.error());
  }
}

}  // namespace muster
