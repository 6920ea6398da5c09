#include "lua/engine/recipe_sweep.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <iterator>
#include <utility>

#include "base/values/diagnostics.h"
#include "base/values/number_text.h"
#include "base/values/quoting.h"
#include "base/values/value_json.h"
#include "evaluation/resolve/settle_space.h"
#include "lua/engine/planning.h"
#include "lua/state/stack.h"
#include "lua/state/state.h"

namespace muster {
namespace {

constexpr double kMaxWhole = 9007199254740992;  // 2^53

// The fields of one part of a sweep, read by type. Missing fields leave their target unchanged.
class Part {
 public:
  Part(const Value* value, std::string what, Host& host)
      : fields_(value == nullptr ? nullptr : value->AsMap()), what_(std::move(what)), host_(host) {
    if (const Value* place = Field("place"); place != nullptr && place->AsInt() != nullptr) {
      place_ = host_.PlaceOf(static_cast<int>(*place->AsInt()));
    }
  }

  bool given() const { return fields_ != nullptr; }
  const Place& place() const { return place_; }
  const Value* Field(const std::string& name) const {
    if (fields_ == nullptr) return nullptr;
    const auto found = fields_->find(name);
    return found == fields_->end() ? nullptr : &found->second;
  }

  void Text(const std::string& name, std::string& target) const {
    const Value* value = Field(name);
    if (value == nullptr) return;
    if (value->AsString() == nullptr || value->AsString()->empty()) return Refuse(name, "a text", *value);
    target = *value->AsString();
  }
  void Truth(const std::string& name, bool& target) const {
    const Value* value = Field(name);
    if (value == nullptr) return;
    if (value->AsBool() == nullptr) return Refuse(name, "true or false", *value);
    target = *value->AsBool();
  }
  void Number(const std::string& name, double& target) const {
    const Value* value = Field(name);
    if (value == nullptr) return;
    if (!value->IsNumber()) return Refuse(name, "a number", *value);
    target = value->Number();
  }
  // Whole numbers from `least` on.
  template <class T>
  void Count(const std::string& name, T& target, std::int64_t least, double most = kMaxWhole) const {
    const Value* value = Field(name);
    if (value == nullptr) return;
    const std::int64_t* number = value->AsInt();
    if (number == nullptr || *number < least || static_cast<double>(*number) > most) {
      return Refuse(name, "a whole number from " + std::to_string(least) + " on", *value);
    }
    using Plain = typename Unwrapped<T>::Type;
    target = static_cast<Plain>(*number);
  }
  void Duration(const std::string& name, std::optional<std::uint64_t>& target) const {
    const Value* value = Field(name);
    if (value == nullptr) return;
    std::optional<double> seconds;
    if (value->AsString() != nullptr) seconds = ParseDuration(*value->AsString());
    constexpr double kMax = 1e9;  // seconds, more than thirty years
    if (!seconds || !(*seconds > 0 && *seconds <= kMax)) {
      return Report("type",
                    what_ + ": " + name + " must be a duration such as \"90s\" or \"36h\", got " + ToText(*value),
                    DurationHint(value->AsString() != nullptr ? *value->AsString() : ToText(*value), ""));
    }
    target = static_cast<std::uint64_t>(std::ceil(*seconds * 1000));
  }

  void Refuse(const std::string& name, const std::string& wanted, const Value& value) const {
    Report("type", what_ + ": " + name + " must be " + wanted + ", got " + ToText(value));
  }
  void Report(std::string kind, std::string message, std::string hint = {}) const {
    host_.Report(Error(std::move(kind), place_, std::move(message), std::move(hint)));
  }
  // The failure class of that name.
  std::optional<TrialClass> Failure(const std::string& name) const {
    const auto named = ParseTrialClass(name);
    if (named && IsFailure(*named)) return named;
    Report("enum", what_ + ": " + Quoted(name) + " is not a failure class", DidYouMean(name, AllTrialClassNames(true)));
    return std::nullopt;
  }

 private:
  template <class T>
  struct Unwrapped {
    using Type = T;
  };
  template <class T>
  struct Unwrapped<std::optional<T>> {
    using Type = T;
  };

  const Value::Map* fields_;
  std::string what_;
  Host& host_;
  Place place_;
};

Value::List ListOf(const Value* value) {
  if (value == nullptr) return {};
  if (const Value::List* list = value->AsList()) return *list;
  return {};
}

Axis::Kind AxisKindOf(const std::string& name) {
  for (const Axis::Kind kind :
       {Axis::Kind::kRange, Axis::Kind::kUniform, Axis::Kind::kLogUniform, Axis::Kind::kIntLogUniform}) {
    if (AxisKindName(kind) == name) return kind;
  }
  return Axis::Kind::kChoice;
}

Space SpaceOf(const Value& value, Host& host) {
  const Part part(&value, "space", host);
  Space space;
  space.place = part.place();
  std::string kind;
  std::string name;
  part.Text("kind", kind);
  part.Text("name", name);
  if (kind == "axis") {
    space.kind = Space::Kind::kAxis;
    std::string axis;
    part.Text("axis", axis);
    space.axis.name = name;
    space.axis.kind = AxisKindOf(axis);
    space.axis.values = ListOf(part.Field("values"));
  } else if (kind == "fixed") {
    space.kind = Space::Kind::kFixed;
    const Value* fixed = part.Field("value");
    space.fixed[name] = fixed == nullptr ? Value() : *fixed;
  } else if (kind == "when") {
    space.kind = Space::Kind::kWhen;
    for (const Value& each : ListOf(part.Field("condition"))) {
      const Part wanted(&each, "when", host);
      std::string about;
      wanted.Text("name", about);
      space.condition[about] = ListOf(wanted.Field("values"));
    }
  } else {
    space.kind = kind == "zip" ? Space::Kind::kZip : kind == "union" ? Space::Kind::kUnion : Space::Kind::kProduct;
    for (const Value& weight : ListOf(part.Field("weights"))) space.weights.push_back(weight.Number());
  }
  for (const Value& each : ListOf(part.Field("parts"))) space.parts.push_back(SpaceOf(each, host));
  return space;
}

void ReadSampler(const Part& part, SamplerChoice& sampler) {
  std::string kind;
  part.Text("kind", kind);
  for (std::size_t i = 0; i < std::size(kSamplers); ++i) {
    if (kind == kSamplers[i].name) sampler.kind = static_cast<SamplerChoice::Kind>(i);
  }
  part.Count("trials", sampler.trials, 1);
  part.Count("seed", sampler.seed, 0);
  part.Truth("scramble", sampler.scramble);
  if (const Value* command = part.Field("command")) {
    for (const Value& word : ListOf(command)) {
      if (word.AsString() != nullptr) sampler.command.push_back(*word.AsString());
    }
    if (sampler.command.empty() || sampler.command.size() != ListOf(command).size()) {
      part.Refuse("command", "a list of words such as { \"python3\", \"my.py\" }", *command);
    }
  }
  std::optional<std::uint64_t> timeout;
  part.Duration("timeout", timeout);
  if (timeout) sampler.timeout_ms = *timeout;
  sampler.place = part.place();
}

EarlyStopChoice EarlyStopOf(const Part& part) {
  EarlyStopChoice stop;
  std::string kind;
  part.Text("kind", kind);
  if (kind == "median") stop.kind = EarlyStopChoice::Kind::kMedian;
  if (kind == "hyperband") stop.kind = EarlyStopChoice::Kind::kHyperband;
  part.Text("resource", stop.resource);
  part.Number("min", stop.min);
  part.Number("max", stop.max);
  part.Number("eta", stop.eta);
  part.Count("min_results", stop.min_results, 0);
  part.Truth("promote", stop.promote);
  part.Number("warmup", stop.warmup);
  part.Count("min_finished", stop.min_finished, 1);
  stop.place = part.place();
  return stop;
}

void ReadMetrics(const Part& part, MetricsChoice& metrics) {
  part.Text("role", metrics.role);
  part.Text("result", metrics.result_file);
  metrics.place = part.place();
  const Value* patterns = part.Field("stdout");
  if (patterns == nullptr) return;
  if (patterns->AsMap() == nullptr) {
    return part.Report("type", "metrics: stdout must be a table of patterns by metric, got " + ToText(*patterns),
                       "stdout = { loss = [[loss: (\\S+)]] }");
  }
  for (const auto& [metric, pattern] : *patterns->AsMap()) {
    if (pattern.AsString() == nullptr || pattern.AsString()->find('(') == std::string::npos) {
      part.Report("type",
                  "metrics: the pattern of " + metric + " must be a text with one group, got " + ToText(pattern),
                  "stdout = { " + metric + " = [[" + metric + ": (\\S+)]] }");
    } else {
      metrics.patterns[metric] = *pattern.AsString();
    }
  }
}

void ReadRetry(const Part& part, RetryChoice& retry) {
  constexpr double kMax = 1000;
  part.Count("max", retry.max, 0, kMax);
  part.Count("quarantine_host_after", retry.quarantine_host_after, 0, kMax);
  part.Truth("verdict", retry.verdict);
  retry.place = part.place();
  if (const Value* on = part.Field("on")) {
    Value::List classes = ListOf(on);
    if (on->AsString() != nullptr) classes = {*on};
    for (const Value& each : classes) {
      if (each.AsString() == nullptr) {
        part.Refuse("on", "a list of classes of failures", *on);
        continue;
      }
      const auto named = part.Failure(*each.AsString());
      if (named && std::find(retry.on.begin(), retry.on.end(), *named) == retry.on.end()) retry.on.push_back(*named);
    }
  }
  const Value* patterns = part.Field("patterns");
  if (patterns == nullptr) return;
  if (patterns->AsMap() == nullptr) return part.Refuse("patterns", "a table of patterns by class", *patterns);
  for (const auto& [name, pattern] : *patterns->AsMap()) {
    const auto named = part.Failure(name);
    if (pattern.AsString() == nullptr) {
      part.Refuse("patterns." + name, "a text", pattern);
    } else if (named) {
      retry.patterns[*named] = *pattern.AsString();
    }
  }
}

}  // namespace

SweepDescription ReadSweep(lua_State* lua, Host& host, int index, const Declared& declared,
                           const ParameterNames& names) {
  SweepDescription sweep;
  Value plain;
  std::string why;
  if (!ToValue(lua, index, plain, why)) {
    host.Report(Error("type", declared.place, "the sweep: " + why));
    return sweep;
  }
  const Part whole(&plain, "sweep", host);
  whole.Text("name", sweep.name);
  whole.Text("doc", sweep.doc);
  whole.Text("warm_start", sweep.warm_start);
  if (!sweep.name.empty() && !IsRunName(sweep.name)) {
    whole.Report("format", "name must consist of letters, digits, '_', '-' and '.', got " + Quoted(sweep.name));
  }
  if (const Value* space = whole.Field("space")) sweep.space = SpaceOf(*space, host);
  Diagnostics problems;
  SettleSpace(sweep.space, false, declared, names, problems);
  WeighEvenly(sweep.space);
  sweep.sampler.place = whole.place();
  for (const Value& each : ListOf(whole.Field("seed_points"))) {
    Space seed;
    seed.kind = Space::Kind::kFixed;
    seed.place = whole.place();
    for (const Value& named : ListOf(&each)) {
      const Value* name = FieldOf(named, "name");
      const Value* value = FieldOf(named, "value");
      if (name != nullptr && name->AsString() != nullptr && value != nullptr) seed.fixed[*name->AsString()] = *value;
    }
    SettleSpace(seed, false, declared, names, problems);
    sweep.seed_points.push_back(std::move(seed.fixed));
    sweep.seed_places.push_back(seed.place);
  }
  host.Report(problems);
  if (const Part part(whole.Field("sampler"), "sampler", host); part.given()) ReadSampler(part, sweep.sampler);
  if (const Part part(whole.Field("seeds"), "seeds", host); part.given()) {
    SeedsChoice& seeds = sweep.sampler.seeds.emplace();
    part.Text("param", seeds.param);
    part.Count("count", seeds.count, 2, static_cast<double>(kMaxSeeds));
    part.Truth("race", seeds.race);
    std::string rank = "mean";
    part.Text("rank_by", rank);
    if (rank != "mean" && rank != "median") part.Refuse("rank_by", "\"mean\" or \"median\"", Value(rank));
    seeds.median = rank == "median";
    seeds.place = part.place();
  }
  const auto objective = [&](const char* name, std::optional<Objective>& target) {
    const Part part(whole.Field(name), "objective", host);
    if (!part.given()) return;
    target.emplace();
    part.Text("metric", target->metric);
    part.Truth("maximize", target->maximize);
    target->place = part.place();
  };
  objective("objective", sweep.objective);
  objective("second_objective", sweep.second_objective);
  for (const Value& text : ListOf(whole.Field("constraints"))) {
    auto constraint = ParseConstraint(text.AsString() == nullptr ? "" : *text.AsString(), whole.place());
    if (constraint) {
      sweep.constraints.push_back(*std::move(constraint));
    } else {
      host.Report(constraint.error());
    }
  }
  if (const Part part(whole.Field("early_stop"), "early_stop", host); part.given())
    sweep.early_stop = EarlyStopOf(part);
  if (const Part part(whole.Field("metrics"), "metrics", host); part.given()) ReadMetrics(part, sweep.metrics);
  if (const Part part(whole.Field("retry"), "retry", host); part.given()) ReadRetry(part, sweep.retry);
  if (const Part part(whole.Field("stop_after"), "stop_after", host); part.given()) {
    part.Count("failures", sweep.stop_after.failures, 1);
    part.Truth("no_gain", sweep.stop_after.no_gain);
    sweep.stop_after.place = part.place();
  }
  if (const Part part(whole.Field("skip_after"), "skip_after", host); part.given()) {
    part.Count("failures", sweep.skip_after.failures, 0);
    sweep.skip_after.place = part.place();
  }
  if (const Part part(whole.Field("budget"), "budget", host); part.given()) {
    constexpr double kMax = 1'000'000;
    constexpr double kMaxPerDevice = 64;
    part.Count("devices", sweep.budget.devices, 1, kMax);
    if (const Value* hours = part.Field("device_hours")) {
      if (hours->IsNumber() && hours->Number() > 0 && std::isfinite(hours->Number())) {
        sweep.budget.device_hours = hours->Number();
      } else {
        part.Refuse("device_hours", "a number of hours above 0", *hours);
      }
    }
    part.Duration("time", sweep.budget.time_ms);
    part.Count("trials", sweep.budget.trials, 1);
    part.Count("slots", sweep.budget.slots, 1, kMax);
    part.Count("per_device", sweep.budget.per_device, 1, kMaxPerDevice);
    sweep.budget.place = part.place();
  }
  return sweep;
}

// The result for a point.
struct PointJudge::Verdict {
  std::optional<Diagnostic> problem;  // none: it can be planned
  bool condition_failed = false;      // the condition itself has an error, so it says nothing about any point
  std::uint32_t hosts = 0;
  std::uint64_t devices = 0;
};

// The name that was read next and a child for each of its values; or the verdict.
struct PointJudge::Node {
  std::size_t name = 0;
  std::unordered_map<std::string, std::unique_ptr<Node>> next;
  std::unique_ptr<Verdict> verdict;
};

// Points that have the same parameters, hosts and devices.
struct PointJudge::Shape {
  Resolved resolved;                   // of one such point; values of the others replace those in it
  std::vector<std::ptrdiff_t> states;  // by number of the swept name: index in resolved.parameters, or -1
  std::unique_ptr<Verdict> refused;    // no point of this shape can be planned
  Node root;
};

namespace {

constexpr std::size_t kMaxNodes = 200'000;  // about 40 MB
constexpr std::size_t kMaxShapes = 5'000;

// Appends an unambiguous encoding of the value; short values need no allocation.
void AppendKey(const Value* value, std::string& key) {
  const auto append = [&](char type, const void* bytes, std::size_t size) {
    key += type;
    key.append(static_cast<const char*>(bytes), size);
  };
  if (value == nullptr) {
    key += '-';
  } else if (const std::int64_t* integer = value->AsInt()) {
    append('i', integer, sizeof *integer);
  } else if (const double* number = value->AsDouble()) {
    append('d', number, sizeof *number);
  } else {
    const std::string text = ToText(*value);
    const std::size_t size = text.size();
    append('t', &size, sizeof size);
    key += text;
  }
}

const Value* ValueIn(const Point& point, const std::string& name) {
  const auto found = point.find(name);
  return found == point.end() ? nullptr : &found->second;
}

// Names with an axis that is not a list of choices, so its values were not settled one by one.
void CollectRanges(const Space& space, std::vector<std::string>& names) {
  if (space.kind == Space::Kind::kAxis && space.axis.kind != Axis::Kind::kChoice) names.push_back(space.axis.name);
  for (const Space& part : space.parts) CollectRanges(part, names);
}

void AddNumber(std::vector<PointNumbers>& ranges, std::uint64_t number) {
  if (!ranges.empty() && ranges.back().first + ranges.back().count == number) {
    ++ranges.back().count;
  } else {
    ranges.push_back({number, 1});
  }
}

}  // namespace

// The totals of a batch.
struct PointJudge::Tally {
  Judgement judgement;
  std::map<std::pair<std::uint32_t, std::uint64_t>, std::size_t> footprints = {};
  std::map<std::string, std::size_t> reasons = {};
  std::unordered_map<const Verdict*, std::size_t> places = {};  // of stored verdicts, in either list

  void Add(const Verdict& verdict, bool kept, const Point& point, std::uint64_t number, bool each) {
    ++judgement.points;
    std::size_t index = 0;
    if (const auto known = kept ? places.find(&verdict) : places.end(); known != places.end()) {
      index = known->second;
    } else {
      index = verdict.problem ? ReasonOf(*verdict.problem, point) : FootprintOf(verdict);
      if (kept) places.emplace(&verdict, index);
    }
    if (verdict.problem) {
      RefusedPoints& refused = judgement.reasons[index];
      ++refused.points;
      if (each) AddNumber(refused.ranges, number);
      return;
    }
    ++judgement.possible;
    PossiblePoints& possible = judgement.footprints[index];
    ++possible.points;
    if (each) AddNumber(possible.ranges, number);
  }

 private:
  std::size_t ReasonOf(const Diagnostic& problem, const Point& point) {
    // Conditions of the command line have no place; their text identifies them.
    const std::string key = problem.kind + '\0' + problem.place.file + '\0' + std::to_string(problem.place.line) +
                            '\0' + (problem.place.file.empty() ? problem.message : "");
    const auto [found, is_new] = reasons.try_emplace(key, judgement.reasons.size());
    if (is_new) judgement.reasons.push_back({problem, point});
    return found->second;
  }
  std::size_t FootprintOf(const Verdict& verdict) {
    const auto [found, is_new] = footprints.try_emplace({verdict.hosts, verdict.devices}, judgement.footprints.size());
    if (is_new) judgement.footprints.push_back({verdict.hosts, verdict.devices});
    return found->second;
  }
};

// One protected call of the judge.
struct PointJudge::PointCall {
  PointJudge& judge;
  const JudgingInterpreter& interpreter;
  const Point* point = nullptr;
  Shape* shape = nullptr;
};

PointJudge::PointJudge(SweepDescription sweep, CompiledSpace space)
    : sweep_(std::move(sweep)), space_(std::move(space)), swept_(space_.names()) {
  for (std::size_t i = 0; i < swept_.size(); ++i) numbers_.emplace(swept_[i], i);
  read_.assign(swept_.size(), false);
}

PointJudge::~PointJudge() = default;

Result<std::unique_ptr<PointJudge>> PointJudge::Of(SweepDescription sweep) {
  auto space = CompiledSpace::Of(sweep.space);
  if (!space) return Fail(space.error());
  std::unique_ptr<PointJudge> judge(new PointJudge(std::move(sweep), *std::move(space)));
  auto sampler = Sampler::Of(judge->space_, judge->sweep_.sampler);
  if (!sampler) return Fail(sampler.error());
  judge->sampler_ = *std::move(sampler);
  return judge;
}

int PointJudge::SettleCall(lua_State* lua) {
  auto& call = *static_cast<PointCall*>(lua_touserdata(lua, 1));
  Host& host = call.interpreter.host;
  lua_rawgeti(lua, LUA_REGISTRYINDEX, call.interpreter.recipe);
  const int recipe = lua_gettop(lua);
  const Place place = PlaceOfRecipe(lua, host, recipe);
  call.judge.declared_ = SettleRecipe(lua, host, call.interpreter.modules, recipe, place);
  call.judge.names_.emplace(call.judge.declared_->parameters);
  return 0;
}

bool PointJudge::Settle(const JudgingInterpreter& interpreter) {
  if (declared_) return true;
  PointCall call{*this, interpreter};
  if (!interpreter.call(Guarded<SettleCall>, &call) || HasErrors(interpreter.host.diagnostics)) {
    declared_.reset();
    return false;
  }
  FindShapeNames();
  return true;
}

void PointJudge::FindShapeNames() {
  std::vector<std::string> ranges;
  CollectRanges(sweep_.space, ranges);
  shapes_.assign(swept_.size(), false);
  for (std::size_t i = 0; i < swept_.size(); ++i) {
    std::size_t declared = 0;
    for (const Parameter& parameter : declared_->parameters) {
      if (parameter.name != swept_[i]) continue;
      ++declared;
      const bool one_by_one =
          !parameter.one_of.empty() && std::find(ranges.begin(), ranges.end(), swept_[i]) != ranges.end();
      shapes_[i] = shapes_[i] || parameter.variant || one_by_one;
    }
    shapes_[i] = shapes_[i] || declared != 1;  // declared in several variants, or a number of the cluster
  }
}

int PointJudge::ResolveCall(lua_State* lua) {
  auto& call = *static_cast<PointCall*>(lua_touserdata(lua, 1));
  std::vector<Override> overrides;
  for (const auto& [name, value] : *call.point) overrides.push_back(PointOverride(name, value));
  call.shape->resolved = ResolveRequest(call.interpreter.host, *call.judge.declared_, *call.judge.names_, overrides);
  return 0;
}

PointJudge::Shape& PointJudge::ShapeOf(const JudgingInterpreter& interpreter, const Point& point) {
  std::string key;
  for (std::size_t i = 0; i < swept_.size(); ++i) {
    const Value* value = ValueIn(point, swept_[i]);
    if (shapes_[i]) {
      AppendKey(value, key);
    } else {
      key += value == nullptr ? '-' : '+';
    }
  }
  if (const auto known = known_shapes_.find(key); known != known_shapes_.end()) return *known->second;
  if (known_shapes_.size() >= kMaxShapes) {
    known_shapes_.clear();
    nodes_ = 0;
  }
  auto made = std::make_unique<Shape>();
  Shape& shape = *made;
  known_shapes_.emplace(std::move(key), std::move(made));
  interpreter.begin();
  PointCall call{*this, interpreter, &point, &shape};
  interpreter.call(Guarded<ResolveCall>, &call);
  for (const Diagnostic& diagnostic : interpreter.host.diagnostics) {
    if (diagnostic.severity != Severity::kError) continue;
    shape.refused = std::make_unique<Verdict>(Verdict{diagnostic});
    break;
  }
  shape.states.assign(swept_.size(), -1);
  for (std::size_t i = 0; i < shape.resolved.parameters.size(); ++i) {
    const ParameterState& state = shape.resolved.parameters[i];
    const auto number = numbers_.find(state.parameter.name);
    if (state.active && number != numbers_.end()) {
      shape.states[number->second] = static_cast<std::ptrdiff_t>(i);
    }
  }
  return shape;
}

const PointJudge::Verdict* PointJudge::Known(const Shape& shape, const Point& point) const {
  const Node* node = &shape.root;
  std::string key;
  while (node->verdict == nullptr) {
    if (node->next.empty()) return nullptr;
    key.clear();
    AppendKey(ValueIn(point, swept_[node->name]), key);
    const auto next = node->next.find(key);
    if (next == node->next.end()) return nullptr;
    node = next->second.get();
  }
  return node->verdict.get();
}

int PointJudge::DescribePoint(lua_State* lua) {
  auto& call = *static_cast<PointCall*>(lua_touserdata(lua, 1));
  const JudgingInterpreter& interpreter = call.interpreter;
  Host& host = interpreter.host;
  const Resolved& resolved = call.shape->resolved;
  lua_rawgeti(lua, LUA_REGISTRYINDEX, interpreter.recipe);
  const int recipe = lua_gettop(lua);
  const Place& place = call.judge.declared_->place;
  host.plan.framework = TextOf(lua, recipe, "framework").value_or("none");
  BeginJob(lua, host, recipe, place, resolved);
  CallLayout(lua, host, interpreter.modules, "judge_point", recipe, resolved, place, [&] {
    lua_rawgeti(lua, LUA_REGISTRYINDEX, interpreter.where);
    Value::List texts;
    for (const std::string& text : call.judge.sweep_.where) texts.emplace_back(text);
    PushValue(lua, Value(std::move(texts)));
    return 2;
  });
  return 0;
}

// Plans for the point, and stores the verdict.
const PointJudge::Verdict& PointJudge::Plan(const JudgingInterpreter& interpreter, Shape& shape, const Point& point) {
  Host& host = interpreter.host;
  for (std::size_t i = 0; i < swept_.size(); ++i) {
    if (shape.states[i] < 0) continue;
    if (const Value* value = ValueIn(point, swept_[i])) {
      shape.resolved.parameters[static_cast<std::size_t>(shape.states[i])].value = *value;
    }
  }
  interpreter.begin();
  host.reads.Begin(numbers_);
  PointCall call{*this, interpreter, &point, &shape};
  interpreter.call(Guarded<DescribePoint>, &call);
  host.reads.tracked = false;
  auto verdict = std::make_unique<Verdict>();
  for (const Diagnostic& diagnostic : host.diagnostics) {
    if (diagnostic.severity != Severity::kError) continue;
    verdict->problem = diagnostic;
    break;
  }
  verdict->condition_failed = host.in_where && verdict->problem;
  verdict->hosts = static_cast<std::uint32_t>(shape.resolved.cluster.hosts());
  verdict->devices = static_cast<std::uint64_t>(shape.resolved.cluster.all_devices());

  if (nodes_ >= kMaxNodes) {
    for (auto& [unused, other] : known_shapes_) other->root = Node();
    nodes_ = 0;
  }
  Node* node = &shape.root;
  std::string key;
  for (const std::size_t name : host.reads.order) {
    read_[name] = true;
    if (shapes_[name]) continue;  // part of the shape
    // A plan function that reads another name here, after the same ones, is not pure: its verdict is not stored.
    const bool fits = node->verdict == nullptr && (node->next.empty() || node->name == name);
    if (!fits) {
      last_ = std::move(verdict);
      return *last_;
    }
    node->name = name;
    key.clear();
    AppendKey(ValueIn(point, swept_[name]), key);
    auto& next = node->next[key];
    if (next == nullptr) {
      next = std::make_unique<Node>();
      ++nodes_;
    }
    node = next.get();
  }
  if (node->verdict != nullptr || !node->next.empty()) {
    last_ = std::move(verdict);
    return *last_;
  }
  node->verdict = std::move(verdict);
  return *node->verdict;
}

Result<Judgement> PointJudge::Judge(const JudgingInterpreter& interpreter, const JudgeRequest& request) {
  if (!Settle(interpreter)) return Fail(interpreter.host.diagnostics);
  Tally tally;
  Judgement& judgement = tally.judgement;
  const auto point_of = [&](std::uint64_t number) {
    if (request.what == JudgeRequest::What::kTrials) return sampler_->At(number);
    if (request.what == JudgeRequest::What::kLayouts) return space_.DiscreteAt(number);
    return request.points[number - request.first];
  };
  if (request.what == JudgeRequest::What::kPoints) {
    judgement.total = request.first + std::min<std::uint64_t>(request.count, request.points.size());
  } else {
    judgement.total = request.what == JudgeRequest::What::kTrials ? sampler_->size() : space_.discrete_size();
  }
  const std::uint64_t first = std::min(request.first, judgement.total);
  const std::uint64_t count = std::min({request.count, judgement.total - first, kMaxPoints});
  for (std::uint64_t number = first; number < first + count && judgement.planned < kMaxPlans; ++number) {
    const Point point = point_of(number);
    Shape& shape = ShapeOf(interpreter, point);
    const Verdict* verdict = shape.refused ? shape.refused.get() : Known(shape, point);
    bool kept = true;
    if (verdict == nullptr) {
      const std::size_t nodes = nodes_;
      verdict = &Plan(interpreter, shape, point);
      if (nodes_ < nodes) tally.places.clear();  // older verdicts have been dropped
      ++judgement.planned;
      kept = verdict != last_.get();
      if (verdict->problem && (verdict->condition_failed || verdict->problem->kind == "usage")) {
        return Fail(*verdict->problem);
      }
    }
    tally.Add(*verdict, kept, point, number, request.each);
    if (interpreter.is_spoilt()) break;
  }
  for (std::size_t i = 0; i < swept_.size(); ++i) {
    if (read_[i] || shapes_[i]) judgement.read.push_back(swept_[i]);
  }
  return std::move(tally.judgement);
}

}  // namespace muster
