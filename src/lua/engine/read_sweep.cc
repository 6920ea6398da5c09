#include "lua/engine/read_sweep.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/values/run_name.h"
#include "base/values/shell_quote.h"
#include "base/values/suggest.h"
#include "base/values/units.h"
#include "evaluation/resolve/settle_space.h"
#include "lua/state/stack.h"

namespace muster {
namespace {

constexpr double kLargestWhole = 9007199254740992;  // 2^53

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
  void Count(const std::string& name, T& target, std::int64_t least, double most = kLargestWhole) const {
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
    constexpr double kLongest = 1e9;  // seconds, more than thirty years
    if (!seconds || !(*seconds > 0 && *seconds <= kLongest)) {
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
  std::string kind = "grid";
  part.Text("kind", kind);
  sampler.kind = kind == "random"  ? SamplerChoice::Kind::kRandom
                 : kind == "sobol" ? SamplerChoice::Kind::kSobol
                                   : SamplerChoice::Kind::kGrid;
  part.Count("trials", sampler.trials, 1);
  part.Count("seed", sampler.seed, 0);
  part.Truth("scramble", sampler.scramble);
  sampler.place = part.place();
}

EarlyStopChoice EarlyStopOf(const Part& part) {
  EarlyStopChoice stop;
  std::string kind;
  part.Text("kind", kind);
  stop.kind = kind == "median" ? EarlyStopChoice::Kind::kMedian : EarlyStopChoice::Kind::kAsha;
  part.Text("resource", stop.resource);
  part.Number("min", stop.min);
  part.Number("max", stop.max);
  part.Number("eta", stop.eta);
  part.Count("min_results", stop.min_results, 0);
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
  constexpr double kMost = 1000;
  part.Count("max", retry.max, 0, kMost);
  part.Count("quarantine_host_after", retry.quarantine_host_after, 0, kMost);
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
  if (!sweep.name.empty() && !IsRunName(sweep.name)) {
    whole.Report("format", "name must consist of letters, digits, '_', '-' and '.', got " + Quoted(sweep.name));
  }
  if (const Value* space = whole.Field("space")) sweep.space = SpaceOf(*space, host);
  Diagnostics problems;
  SettleSpace(sweep.space, false, declared, names, problems);
  WeighEvenly(sweep.space);
  host.Report(problems);
  sweep.sampler.place = whole.place();
  if (const Part part(whole.Field("sampler"), "sampler", host); part.given()) ReadSampler(part, sweep.sampler);
  if (const Part part(whole.Field("objective"), "objective", host); part.given()) {
    Objective& objective = sweep.objective.emplace();
    part.Text("metric", objective.metric);
    part.Truth("maximize", objective.maximize);
    objective.place = part.place();
  }
  if (const Part part(whole.Field("early_stop"), "early_stop", host); part.given())
    sweep.early_stop = EarlyStopOf(part);
  if (const Part part(whole.Field("metrics"), "metrics", host); part.given()) ReadMetrics(part, sweep.metrics);
  if (const Part part(whole.Field("retry"), "retry", host); part.given()) ReadRetry(part, sweep.retry);
  if (const Part part(whole.Field("budget"), "budget", host); part.given()) {
    constexpr double kMost = 1'000'000;
    constexpr double kMostPerDevice = 64;
    part.Count("devices", sweep.budget.devices, 1, kMost);
    part.Duration("time", sweep.budget.time_ms);
    part.Count("trials", sweep.budget.trials, 1);
    part.Count("slots", sweep.budget.slots, 1, kMost);
    part.Count("per_device", sweep.budget.per_device, 1, kMostPerDevice);
    sweep.budget.place = part.place();
  }
  return sweep;
}

}  // namespace muster
