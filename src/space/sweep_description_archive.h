// The fields of a sweep's description for the archive (wire/archive/archive.h).
#pragma once

#include <algorithm>

#include "space/sweep_description.h"
#include "wire/archive/value_archive.h"

namespace muster {

template <class A>
void Fields(A& archive, Axis& axis) {
  archive(axis.name);
  InRange(archive, axis.kind, Axis::Kind::kIntLogUniform);
  archive(axis.values, axis.low, axis.high, axis.step, axis.whole);
}

template <class A>
void Fields(A& archive, Space& space) {
  InRange(archive, space.kind, Space::Kind::kWhen);
  archive(space.axis, space.fixed, space.parts, space.weights, space.condition, space.place);
}

template <class A>
void Fields(A& archive, SamplerChoice& sampler) {
  InRange(archive, sampler.kind, SamplerChoice::Kind::kSobol);
  archive(sampler.trials, sampler.seed, sampler.scramble, sampler.shard, sampler.shards, sampler.place,
          sampler.weighted);
}

template <class A>
void Fields(A& archive, Objective& objective) {
  archive(objective.metric, objective.maximize, objective.place);
}

template <class A>
void Fields(A& archive, EarlyStopChoice& stop) {
  InRange(archive, stop.kind, EarlyStopChoice::Kind::kMedian);
  archive(stop.resource, stop.min, stop.max, stop.eta, stop.min_results, stop.warmup, stop.min_finished, stop.place);
}

template <class A>
void Fields(A& archive, MetricsChoice& metrics) {
  archive(metrics.patterns, metrics.role, metrics.result_file, metrics.place);
}

template <class A>
void Fields(A& archive, RetryChoice& retry) {
  archive(retry.max, retry.on, retry.quarantine_host_after, retry.patterns, retry.place);
  if constexpr (A::kReading) {
    const auto is_one = [](TrialClass named) { return named <= TrialClass::kStalled; };
    bool all = std::all_of(retry.on.begin(), retry.on.end(), is_one);
    for (const auto& [named, pattern] : retry.patterns) all = all && is_one(named);
    if (all) return;
    archive.Fail();
    retry = {};
  }
}

template <class A>
void Fields(A& archive, BudgetChoice& budget) {
  archive(budget.devices, budget.time_ms, budget.trials, budget.slots, budget.per_device, budget.place);
}

template <class A>
void Fields(A& archive, SweepDescription& sweep) {
  archive(sweep.name, sweep.doc, sweep.space, sweep.sampler, sweep.objective, sweep.early_stop, sweep.metrics,
          sweep.retry, sweep.budget, sweep.has_where, sweep.where);
}

}  // namespace muster
