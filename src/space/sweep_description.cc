#include "space/sweep_description.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <utility>

#include <fmt/format.h>

#include "base/values/diagnostics.h"
#include "base/values/number_text.h"
#include "base/values/quoting.h"
#include "base/values/text_parts.h"
#include "space/sweep_fields.h"
#include "wire/archive/json_fields.h"
#include "wire/archive/json_schema.h"

namespace muster {

static_assert(kTrialClassNames.size() == static_cast<std::size_t>(TrialClass::kInfeasible) + 1);

std::string_view TrialClassName(TrialClass trial_class) {
  return kTrialClassNames[static_cast<std::size_t>(trial_class)];
}

std::optional<TrialClass> ParseTrialClass(std::string_view name) {
  const auto found = std::find(kTrialClassNames.begin(), kTrialClassNames.end(), name);
  if (found == kTrialClassNames.end()) return std::nullopt;
  return static_cast<TrialClass>(found - kTrialClassNames.begin());
}

std::vector<std::string> AllTrialClassNames(bool failures_only) {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < kTrialClassNames.size(); ++i) {
    if (!failures_only || IsFailure(static_cast<TrialClass>(i))) names.emplace_back(kTrialClassNames[i]);
  }
  return names;
}

double ObjectiveValue(const std::optional<Objective>& objective, double loss) {
  return objective && objective->maximize ? 0 - loss : loss;  // not -0
}

Result<MetricConstraint> ParseConstraint(const std::string& text, const Place& place) {
  const auto refuse = [&](const std::string& why) {
    return Fail(Error("constraint", place, "the constraint " + Quoted(text) + " " + why,
                      "METRIC <= BOUND or METRIC >= BOUND, as in memory <= 58GiB"));
  };
  MetricConstraint constraint{.metric = {}, .text = text, .place = place};
  std::size_t at = text.find("<=");
  if (const std::size_t other = text.find(">="); other < at) {
    at = other;
    constraint.at_least = true;
  }
  if (at == std::string::npos) return refuse("has neither <= nor >=");
  constraint.metric = Trimmed(std::string_view(text).substr(0, at));
  if (constraint.metric.empty()) return refuse("names no metric");
  const std::string bound(Trimmed(std::string_view(text).substr(at + 2)));
  double number = 0;
  const auto [rest, error] = std::from_chars(bound.data(), bound.data() + bound.size(), number);
  if (error == std::errc() && rest == bound.data() + bound.size()) {
    constraint.bound = number;
  } else if (const auto bytes = ParseBytes(bound)) {
    constraint.bound = static_cast<double>(*bytes);
  } else if (const auto seconds = ParseDuration(bound)) {
    constraint.bound = *seconds;
  } else {
    return refuse("has the bound " + Quoted(bound) + ", which is no number, no size such as 58GiB and no duration");
  }
  if (!std::isfinite(constraint.bound)) return refuse("has a bound that is not a finite number");
  return constraint;
}

std::optional<double> LossOf(const Objective& objective, const std::map<std::string, Value>& metrics) {
  const auto found = metrics.find(objective.metric);
  if (found == metrics.end() || !found->second.IsNumber() || !std::isfinite(found->second.Number()))
    return std::nullopt;
  return objective.maximize ? -found->second.Number() : found->second.Number();
}

TrialResult ResultFor(const SweepDescription& sweep, std::optional<double> loss,
                      const std::map<std::string, Value>& metrics) {
  TrialResult result(loss);
  if (sweep.second_objective) {
    result.second = LossOf(*sweep.second_objective, metrics);
    if (!result.second) result.loss.reset();
    if (!result.loss) result.second.reset();
  }
  result.excess = ExcessOf(sweep.constraints, metrics);
  return result;
}

std::vector<double> ExcessOf(const std::vector<MetricConstraint>& constraints,
                             const std::map<std::string, Value>& metrics) {
  std::vector<double> excess;
  for (const MetricConstraint& constraint : constraints) {
    const auto found = metrics.find(constraint.metric);
    if (found == metrics.end()) {
      excess.push_back(std::numeric_limits<double>::quiet_NaN());
    } else if (!found->second.IsNumber() || !std::isfinite(found->second.Number())) {
      excess.push_back(std::numeric_limits<double>::infinity());
    } else {
      const double by = found->second.Number() - constraint.bound;
      excess.push_back(constraint.at_least ? -by : by);
    }
  }
  return excess;
}

namespace {

// Whether no point of the space has these values: another one is fixed, or one is none of a choice.
bool Excludes(const Space& space, const Point& point) {
  if (space.kind == Space::Kind::kFixed) {
    return std::any_of(space.fixed.begin(), space.fixed.end(), [&](const auto& value) {
      const auto found = point.find(value.first);
      return found != point.end() && found->second != value.second;
    });
  }
  if (space.kind == Space::Kind::kAxis) {
    const auto found = point.find(space.axis.name);
    const std::vector<Value>& values = space.axis.values;
    return found != point.end() && space.axis.kind == Axis::Kind::kChoice &&
           std::find(values.begin(), values.end(), found->second) == values.end();
  }
  if (space.kind == Space::Kind::kWhen) return false;
  const auto excludes = [&](const Space& part) { return Excludes(part, point); };
  return space.kind == Space::Kind::kUnion ? std::all_of(space.parts.begin(), space.parts.end(), excludes)
                                           : std::any_of(space.parts.begin(), space.parts.end(), excludes);
}

void CollectNames(const Space& space, std::vector<std::string>& names) {
  if (space.kind == Space::Kind::kAxis) names.push_back(space.axis.name);
  for (const auto& [name, value] : space.fixed) names.push_back(name);
  for (const Space& part : space.parts) CollectNames(part, names);
}

// The parts of a union that may have a point with these values.
std::vector<const Space*> PartsFor(const Space& space, const Point& point) {
  std::vector<std::string> all;
  CollectNames(space, all);
  std::vector<const Space*> parts;
  for (const Space& part : space.parts) {
    std::vector<std::string> names;
    CollectNames(part, names);
    const bool lacks = std::any_of(all.begin(), all.end(), [&](const std::string& name) {
      return point.contains(name) && std::find(names.begin(), names.end(), name) == names.end();
    });
    if (!lacks && !Excludes(part, point)) parts.push_back(&part);
  }
  return parts;
}

struct MissingAxis {
  const Axis* axis = nullptr;
  Point because;  // the values of the point that the axis depends on; empty: each point has one
};

// Adds the values that all points of the space with the point's values have, and lists the axes that it lacks: also of
// conditions that hold, and of the only part of a union that it can be of.
void Complete(const Space& space, const Point& because, Point& point, std::vector<MissingAxis>& missing) {
  switch (space.kind) {
    case Space::Kind::kFixed:
      point.insert(space.fixed.begin(), space.fixed.end());
      return;
    case Space::Kind::kAxis:
      if (!point.contains(space.axis.name)) missing.push_back({&space.axis, because});
      return;
    case Space::Kind::kUnion: {
      const std::vector<const Space*> parts = PartsFor(space, point);
      if (parts.size() != 1) return;
      std::vector<std::string> names;
      CollectNames(space, names);
      Point chosen = because;
      for (const std::string& name : names) {
        if (const auto found = point.find(name); found != point.end()) chosen.insert(*found);
      }
      if (chosen.size() > because.size() || space.parts.size() == 1) Complete(*parts.front(), chosen, point, missing);
      return;
    }
    case Space::Kind::kWhen:  // part of a product
    case Space::Kind::kProduct:
    case Space::Kind::kZip:
      break;
  }
  for (const Space& part : space.parts) {
    if (part.kind != Space::Kind::kWhen) Complete(part, because, point, missing);
  }
  for (const Space& part : space.parts) {
    if (part.kind != Space::Kind::kWhen || !Holds(part.condition, point)) continue;
    Point deciding = because;
    for (const auto& [name, unused] : part.condition) deciding.insert(*point.find(name));
    for (const Space& inner : part.parts) Complete(inner, deciding, point, missing);
  }
}

}  // namespace

Result<Point> CompletePoint(const Space& space, Point given, const Place& place) {
  std::vector<std::string> names;
  CollectNames(space, names);
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  const std::string text = given.empty() ? "{}" : PointText(given);
  Diagnostics problems;
  for (const auto& [name, value] : given) {
    if (std::binary_search(names.begin(), names.end(), name)) continue;
    problems.push_back(
        Error("point", place, "the chosen point " + text + ": " + name + " is not swept", DidYouMean(name, names)));
  }
  std::vector<MissingAxis> missing;
  Complete(space, {}, given, missing);
  for (const auto& [axis, because] : missing) {
    const std::string with = because.empty() ? "" : " with " + PointText(because);
    problems.push_back(
        Error("point", place, "the chosen point " + text + " has no value of " + axis->name,
              "each point of the sweep" + with + " has one: add " + axis->name + ", of " + AxisText(*axis)));
  }
  if (!problems.empty()) return Fail(std::move(problems));
  return given;
}

namespace {

struct SweepForms : NoForms {
  void Put(auto& writer, const FieldAs<ByClassNames, std::vector<TrialClass>>& classes) const {
    std::vector<std::string_view> names;
    for (const TrialClass each : classes.value) names.push_back(TrialClassName(each));
    writer.Put(names);
  }
  void Put(auto& writer, const FieldAs<ByClassNames, std::map<TrialClass, std::string>>& patterns) const {
    std::map<std::string, std::string> by_name;
    for (const auto& [each, pattern] : patterns.value) by_name.emplace(TrialClassName(each), pattern);
    writer.Put(by_name);
  }
  std::string Get(auto& reader, const Value& json, FieldAs<ByClassNames, std::vector<TrialClass>>& classes) const {
    std::vector<std::string> names;
    reader.Get(json, names);
    classes.value.clear();
    for (const std::string& name : names) {
      if (const auto each = ParseTrialClass(name)) classes.value.push_back(*each);
    }
    return {};
  }
  std::string Get(auto& reader, const Value& json,
                  FieldAs<ByClassNames, std::map<TrialClass, std::string>>& patterns) const {
    std::map<std::string, std::string> by_name;
    reader.Get(json, by_name);
    patterns.value.clear();
    for (auto& [name, pattern] : by_name) {
      if (const auto each = ParseTrialClass(name)) patterns.value.emplace(*each, std::move(pattern));
    }
    return {};
  }
  static std::string Schema(auto&, const FieldAs<ByClassNames, std::vector<TrialClass>>&) {
    return schema::List(schema::OneOf(kTrialClassNames));
  }
  static std::string Schema(auto&, const FieldAs<ByClassNames, std::map<TrialClass, std::string>>&) {
    return schema::Map(schema::String());
  }
};

}  // namespace

Value SweepDescriptionValue(const SweepDescription& sweep) {
  std::string text;
  JsonWriter<SweepForms>(text).Put(sweep);
  return ValueFromJsonText(text).value_or(Value());
}

SweepDescription SweepDescriptionFrom(const Value& value) {
  SweepDescription sweep;
  JsonReader<SweepForms>(JsonReading::kLenient).Get(value, sweep);
  return sweep;
}

std::string SweepDescriptionSchema(const std::string& at) {
  return SchemaWriter<SweepForms>(SchemaBounds::kChecked, at).Of(SweepDescription());
}

namespace {

constexpr double kMaxRungs = 64;
constexpr double kMaxResource = 1e18;

// min, min × eta, … up to max.
double RungsUpTo(const EarlyStopChoice& stop) {
  return 1 + std::floor((std::log(stop.max) - std::log(stop.min)) / std::log(stop.eta) + 1e-9);
}

}  // namespace

Diagnostics CheckSweep(const SweepDescription& sweep) {
  constexpr double kMaxHyperbandRange = 1e6;
  Diagnostics problems;
  auto space = CompiledSpace::Of(sweep.space);
  if (!space) {
    problems = space.error();
  } else if (auto sampler = Sampler::Of(*space, sweep.sampler); !sampler) {
    problems = sampler.error();
  }
  if (KindOf(sweep.sampler).learns && !sweep.objective) {
    problems.push_back(
        Error("sampler", sweep.sampler.place,
              std::string(KindOf(sweep.sampler).name) + " learns from results, and the sweep has no objective",
              "objective = muster.minimize \"loss\", or --minimize loss"));
  }
  if (sweep.second_objective && sweep.second_objective->metric == sweep.objective->metric) {
    problems.push_back(Error("objective", sweep.second_objective->place,
                             "both objectives of the sweep are of " + Quoted(sweep.objective->metric),
                             "two objectives are of two metrics: --minimize loss --minimize latency"));
  }
  if (sweep.retry.verdict && sweep.retry.max == 0) {
    problems.push_back(Error("retry", sweep.retry.place, "retry.verdict without retry.max: nothing is retried",
                             "retry = { verdict = true, max = 3 }"));
  }
  if (sweep.stop_after.no_gain && (!sweep.objective || sweep.second_objective)) {
    problems.push_back(
        Error("stop_after", sweep.stop_after.place,
              std::string("stop_after.no_gain asks what is to be gained in one objective, and the sweep has ") +
                  (sweep.objective ? "two" : "none"),
              "objective = muster.minimize \"loss\", or --minimize loss"));
  }
  if (!sweep.constraints.empty() && !sweep.objective) {
    problems.push_back(Error("constraint", sweep.constraints.front().place,
                             "a constraint says which results may be the best, and the sweep has no objective",
                             "objective = muster.minimize \"loss\", or --minimize loss"));
  }
  if (!sweep.early_stop) return problems;
  const EarlyStopChoice& stop = *sweep.early_stop;
  if (!sweep.objective) {
    problems.push_back(Error("early_stop", stop.place, "trials are to be stopped early, and the sweep has no objective",
                             "objective = muster.minimize \"loss\""));
  }
  if (stop.resource.empty()) problems.push_back(Error("early_stop", stop.place, "resource names no metric"));
  const std::string kind(kEarlyStopNames[static_cast<std::size_t>(stop.kind)]);
  if (stop.has_rungs() &&
      !(stop.min > 0 && stop.min <= stop.max && stop.eta >= 2 && std::isfinite(stop.max) && std::isfinite(stop.eta))) {
    problems.push_back(Error("early_stop", stop.place,
                             fmt::format("{} requires 0 < min <= max and eta >= 2, got min {}, max {} and eta {}", kind,
                                         stop.min, stop.max, stop.eta),
                             fmt::format("muster.{} {{ resource = \"step\", min = 1, max = 81, eta = 3 }}, or "
                                         "--{} step:1..81/3",
                                         kind, kind)));
  } else if (stop.has_rungs() && (stop.max > kMaxResource || RungsUpTo(stop) > kMaxRungs)) {
    problems.push_back(
        Error("early_stop", stop.place,
              fmt::format(
                  "{}: from min {} to max {} with eta {} there are {:.0f} rungs, and there can be at most {}, up to {}",
                  kind, stop.min, stop.max, stop.eta, RungsUpTo(stop), kMaxRungs, kMaxResource),
              "a larger min, a smaller max or a larger eta"));
  } else if (stop.kind == EarlyStopChoice::Kind::kHyperband && stop.max / stop.min > kMaxHyperbandRange) {
    problems.push_back(Error("early_stop", stop.place,
                             "hyperband: max is more than a million times min, so nearly all trials would be of one "
                             "bracket",
                             "a larger min"));
  }
  if (stop.promote && stop.min_results > 0) {
    problems.push_back(Error("early_stop", stop.place,
                             "min_results lets the first trials continue, and with promote trials are paused until "
                             "there are eta results",
                             "one of the two"));
  }
  if (stop.kind == EarlyStopChoice::Kind::kMedian && !(stop.warmup >= 0 && std::isfinite(stop.warmup))) {
    problems.push_back(Error("early_stop", stop.place, "warmup is not a number from 0 on"));
  }
  return problems;
}

}  // namespace muster
