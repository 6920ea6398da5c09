// Edits of sweeps without processes.
#pragma once

#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <gtest/gtest.h>

#include "sweep/record/sweep_edit.h"
#include "sweep/scheduled_sweep.h"

namespace muster {

inline TrialsSoFar TrialsOf(const std::vector<SweepEntry>& entries) {
  TrialsSoFar trials;
  for (const SweepEntry& entry : entries) {
    if (const auto* began = std::get_if<AttemptBegan>(&entry)) trials.begun[began->trial] = began->point;
  }
  return trials;
}

// Edits a sweep as its head does.
inline void Edit(ScheduledSweep& sweep, SamplerChoice choice, const Space& space) {
  const TrialNumber from = sweep.scheduler->progress().judged_to();
  const TrialsSoFar trials = TrialsOf(sweep.entries);
  choice.kept = *KeptPoints(trials, from, space, choice);
  choice.edited_at = from;
  sweep.sweep.space = space;
  sweep.sweep.sampler = choice;
  auto compiled = *CompiledSpace::Of(space);
  sweep.sampler.reset();
  sweep.space.emplace(std::move(compiled));
  sweep.sampler = *Sampler::Of(*sweep.space, choice);
  TrialPoints points(*sweep.sampler, sweep.sweep, sweep.scheduler->progress().edits() + 1);
  for (const SweepEntry& entry : sweep.entries) points.Take(entry);
  SweepEdited edited;
  edited.edit = "0123456789ab";
  edited.from = from;
  edited.trials = points.size();
  const auto entries = EntriesOfEdit(edited, sweep.scheduler->progress(), trials.chosen);
  // Of the scheduler's own points, which are those of before.
  *sweep.trial_points = TrialPoints(*sweep.sampler, sweep.sweep, sweep.scheduler->progress().edits() + 1);
  for (const SweepEntry& entry : std::vector<SweepEntry>(sweep.entries)) sweep.trial_points->Take(entry);
  ASSERT_TRUE(sweep.scheduler->RecordEdit(entries));
  sweep.scheduler->Edited();
}

}  // namespace muster
