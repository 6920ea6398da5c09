// Judges the points of a sweep and plans its trials ahead of their start, as the scheduler asks for it.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <utility>

#include "muster/result.h"
#include "space/sweep_description.h"
#include "sweep/head/trial_planner.h"
#include "sweep/record/impossible_reasons.h"
#include "sweep/scheduler/trial_scheduler.h"

namespace muster {

// The exit code for these problems: 3 if they are the machine's, else 2.
int CodeOf(const Diagnostics& problems);

class TrialPreparation {
 public:
  struct Calls {
    std::function<void()> changed;                                      // something may be possible to start
    std::function<void(const std::string& why, int exit_code)> failed;  // the sweep cannot go on
  };

  // The first three must outlive it. `recipe_file` is for places in messages.
  TrialPreparation(TrialPlanner& planner, TrialScheduler& course, Sampler& sampler, std::string recipe_file,
                   Calls calls)
      : planner_(planner),
        course_(course),
        sampler_(sampler),
        recipe_file_(std::move(recipe_file)),
        calls_(std::move(calls)) {}

  // Begins what can be done now.
  void Advance();
  struct Prepared {
    AttemptBegan began;  // without its hosts
    TrialPlanner::Planned planned;
  };
  // The next attempt of a trial that the scheduler starts.
  Prepared Take(TrialNumber trial);
  // Of points judged before any trial began.
  const ImpossibleReasons& reasons() const { return reasons_; }

 private:
  void Judge();
  void Plan(TrialNumber trial);
  void OnPlanned(TrialNumber trial, Result<TrialPlanner::Planned> made);

  TrialPlanner& planner_;
  TrialScheduler& course_;
  Sampler& sampler_;
  const std::string recipe_file_;
  const Calls calls_;
  std::map<TrialNumber, TrialPlanner::Planned> planned_;
  ImpossibleReasons reasons_;
};

}  // namespace muster
