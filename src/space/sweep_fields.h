// The fields of a sweep's description, each described once: for the archive (wire/archive/archive.h), and for JSON: the
// member "description" of sweep.json, and `muster sweep --json`. Members are in the order of their names; places are in
// the archive only.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <iterator>
#include <string>
#include <string_view>

#include "space/sweep_description.h"
#include "wire/archive/value_archive.h"

namespace muster {

struct ByClassNames {};  // trial classes that JSON writes as their names (sweep_description.cc)

inline constexpr std::array<std::string_view, 6> kSpaceKindNames = {"axis", "fixed", "product", "zip", "union", "when"};
inline constexpr std::array<std::string_view, 3> kEarlyStopNames = {"asha", "median", "hyperband"};
inline constexpr std::array<std::string_view, 2> kComparisonNames = {"<=", ">="};
inline constexpr std::array<std::string_view, 2> kDirectionNames = {"minimize", "maximize"};
inline constexpr auto kSamplerNames = [] {
  std::array<std::string_view, std::size(kSamplers)> names;
  std::transform(std::begin(kSamplers), std::end(kSamplers), names.begin(),
                 [](const SamplerKind& sampler) { return sampler.name; });
  return names;
}();

// Of JSON, whose members are read in any order.
template <class V>
concept ReadsByName = V::kReading && requires(V& v) {
  v.Find("kind");
};

// An axis has its fields beside those of the space.
template <class V>
void Fields(V& v, Space& space) {
  using SpaceKind = Space::Kind;
  Axis& axis = space.axis;
  if constexpr (ReadsByName<V>) {  // on these the other members depend
    v("kind", WithNames(space.kind, kSpaceKindNames));
    v("axis", OnlyIf(space.kind == SpaceKind::kAxis, WithNames(axis.kind, kAxisKindNames)));
  }
  const bool is_axis = space.kind == SpaceKind::kAxis;
  const bool is_choice = axis.kind == Axis::Kind::kChoice;
  const bool has_parts = !is_axis && space.kind != SpaceKind::kFixed;
  v("axis", OnlyIf(is_axis, WithNames(axis.kind, kAxisKindNames)));
  v("condition", OnlyIf(space.kind == SpaceKind::kWhen, space.condition));
  v("high", OnlyIf(is_axis && !is_choice, axis.high)), v("kind", WithNames(space.kind, kSpaceKindNames));
  v("low", OnlyIf(is_axis && !is_choice, axis.low)), v("name", OnlyIf(is_axis, axis.name));
  v("parts", OnlyIf(has_parts, space.parts));
  v("step", OnlyIf(is_axis && axis.kind == Axis::Kind::kRange, axis.step));
  v("values", OnlyIf(is_axis && is_choice, axis.values)),
      v("values", OnlyIf(space.kind == SpaceKind::kFixed, space.fixed));
  v("weights",
    OnlyIf(has_parts && space.kind != SpaceKind::kWhen && (ReadsByName<V> || !space.weights.empty()), space.weights));
  v(axis.whole, space.place);
  if constexpr (ReadsByName<V>) {
    axis.whole =
        axis.kind == Axis::Kind::kRange && axis.low == std::floor(axis.low) && axis.step == std::floor(axis.step);
  }
}

template <class V>
void Fields(V& v, SamplerChoice::Given& given) {
  v("losses", given.losses), v("points", given.points), v("sweep", given.sweep);
}

inline constexpr std::array<std::string_view, 2> kMiddleNames = {"mean", "median"};

template <class V>
void Fields(V& v, SeedsChoice& seeds) {
  v("count", seeds.count), v("param", seeds.param), v("race", seeds.race);
  v("rank_by", WithNames(seeds.median, kMiddleNames));
  v(seeds.place);
}

template <class V>
void Fields(V& v, SamplerChoice& sampler) {
  v("command", As<UnlessNone>(sampler.command)), v("edited_at", As<UnlessNone>(sampler.edited_at));
  v("given", As<UnlessNone>(sampler.given));
  v("kept", OnlyIf(ReadsByName<V> || (sampler.edited_at == 0 && !sampler.kept.empty()), sampler.kept));
  v("kind", WithNames(sampler.kind, kSamplerNames));
  v("scramble", OnlyIf(KindOf(sampler).scrambles, sampler.scramble));
  v("seed", OnlyIf(KindOf(sampler).draws, sampler.seed));
  v("seeds", As<UnlessNone>(sampler.seeds)), v("shard", OnlyIf(ReadsByName<V> || sampler.shards > 1, sampler.shard)),
      v("shards", OnlyIf(ReadsByName<V> || sampler.shards > 1, sampler.shards));
  v("timeout_ms", OnlyIf(KindOf(sampler).pipes, sampler.timeout_ms)), v("trials", As<UnlessNone>(sampler.trials));
  v(sampler.place, sampler.weighted);
}

template <class V>
void Fields(V& v, Objective& objective) {
  v("direction", WithNames(objective.maximize, kDirectionNames)), v("metric", objective.metric);
  v(objective.place);
}

template <class V>
void Fields(V& v, MetricConstraint& constraint) {
  v("bound", constraint.bound), v("comparison", WithNames(constraint.at_least, kComparisonNames));
  v("metric", constraint.metric), v("text", constraint.text);
  v(constraint.place);
}

template <class V>
void Fields(V& v, EarlyStopChoice& stop) {
  if constexpr (ReadsByName<V>) v("kind", WithNames(stop.kind, kEarlyStopNames));
  const bool is_asha = stop.kind == EarlyStopChoice::Kind::kAsha;
  const bool has_rungs = stop.has_rungs();
  v("eta", OnlyIf(has_rungs, stop.eta)), v("kind", WithNames(stop.kind, kEarlyStopNames));
  v("max", OnlyIf(has_rungs, stop.max)), v("min", OnlyIf(has_rungs, stop.min));
  v("min_finished", OnlyIf(!has_rungs, stop.min_finished)), v("min_results", OnlyIf(is_asha, stop.min_results));
  v("promote", As<UnlessNone>(stop.promote));
  v("resource", stop.resource), v("warmup", OnlyIf(!has_rungs, stop.warmup));
  v(stop.place);
}

template <class V>
void Fields(V& v, MetricsChoice& metrics) {
  v("result", As<UnlessNone>(metrics.result_file)), v("role", As<UnlessNone>(metrics.role));
  v("stdout", As<UnlessNone>(metrics.patterns));
  v(metrics.place);
}

template <class V>
void Fields(V& v, RetryChoice& retry) {
  v("max", retry.max), v("on", As<ByClassNames>(retry.on));
  v("patterns", OnlyIf(ReadsByName<V> || !retry.patterns.empty(), As<ByClassNames>(retry.patterns)));
  v("quarantine_host_after", retry.quarantine_host_after), v("verdict", As<UnlessNone>(retry.verdict));
  v(retry.place);
  if constexpr (V::kReading) {
    const auto is_one = [](TrialClass named) { return static_cast<std::size_t>(named) < kTrialClassNames.size(); };
    bool all = std::all_of(retry.on.begin(), retry.on.end(), is_one);
    for (const auto& [named, pattern] : retry.patterns) all = all && is_one(named);
    if (all) return;
    v.Fail();
    retry = {};
  }
}

template <class V>
void Fields(V& v, BudgetChoice& budget) {
  v("device_hours", As<UnlessNone>(budget.device_hours)), v("devices", As<UnlessNone>(budget.devices));
  v("per_device", As<UnlessNone>(budget.per_device));
  v("slots", As<UnlessNone>(budget.slots)), v("time_ms", As<UnlessNone>(budget.time_ms));
  v("trials", As<UnlessNone>(budget.trials));
  v(budget.place);
}

template <class V>
void Fields(V& v, StopAfterChoice& stop) {
  v("failures", As<UnlessNone>(stop.failures)), v("no_gain", As<UnlessNone>(stop.no_gain));
  v(stop.place);
}

template <class V>
void Fields(V& v, SkipAfterChoice& skip) {
  v("failures", skip.failures);
  v(skip.place);
}

template <class V>
void Fields(V& v, SweepDescription& sweep) {
  std::string branches = "weighted";  // sweeps that began before unions had weights have no such member
  if constexpr (ReadsByName<V>) sweep.sampler.weighted = v.Find("branches") != nullptr;
  v("branches", OnlyIf(sweep.sampler.weighted, branches));
  v("budget", sweep.budget), v("constraints", As<UnlessNone>(sweep.constraints)), v("doc", sweep.doc);
  v("early_stop", As<UnlessNone>(sweep.early_stop));
  v("has_where", sweep.has_where), v("metrics", sweep.metrics), v("name", sweep.name);
  v("objective", As<UnlessNone>(sweep.objective)), v("retry", sweep.retry), v("sampler", sweep.sampler);
  v("second_objective", As<UnlessNone>(sweep.second_objective)), v("seed_points", As<UnlessNone>(sweep.seed_points));
  v("skip_after", OnlyIf(ReadsByName<V> || sweep.skip_after.failures != SkipAfterChoice().failures, sweep.skip_after));
  v("space", sweep.space),
      v("stop_after",
        OnlyIf(ReadsByName<V> || sweep.stop_after.failures || sweep.stop_after.no_gain, sweep.stop_after));
  v("warm_start", As<UnlessNone>(sweep.warm_start));
  v("where", sweep.where);
  v(sweep.seed_places);
}

}  // namespace muster
