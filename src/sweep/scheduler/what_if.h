// What a rule of early stopping would have done in a sweep that has run: its trials are run again in thought, with the
// reports that they made, in the same order and as many at a time. Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "metrics/metrics_line.h"
#include "space/sweep_description.h"
#include "sweep/record/sweep_events.h"

namespace muster {

struct RecordedTrial {
  struct Report {
    double ms = 0;  // since the trial began
    double resource = 0;
    double loss = 0;
  };
  TrialNumber trial = 0;
  std::vector<Report> reports = {};
  double ms = 0;  // until its end
  std::uint32_t devices = 0;
  TrialClass trial_class = TrialClass::kOk;
  std::optional<double> loss = {};          // its result, if it has one
  std::optional<std::uint64_t> group = {};  // of a repetition: SweepProgress::GroupOf()
};

struct WhatIfTrial {
  TrialNumber trial = 0;
  bool stopped = false;   // by the rule
  bool left_out = false;  // a repetition of a point of which the rule had stopped another one: it would not have begun
  std::string why = {};
  // Where it would have been stopped; else where its reports end.
  double resource = 0;
  double ms = 0;
  // It was stopped or failed in reality, and the rule would have let it go on: what follows is not known.
  bool unknown_beyond = false;
};

struct WhatIf {
  std::vector<WhatIfTrial> trials = {};  // in the order in which they began
  std::uint64_t stopped = 0;
  std::uint64_t unknown = 0;
  std::uint64_t left_out = 0;
  double resource = 0;  // in all, with the rule and as it was
  double resource_before = 0;
  double device_ms = 0;  // likewise: time of devices; of trials, if no trial has any
  double device_ms_before = 0;
  double ms = 0;  // from the first start to the last end
  double ms_before = 0;
  // Of the trials that the rule lets run to their end, and of all that have a result; of repeated points the best trial
  // of the best point, all of whose repetitions have.
  std::optional<TrialNumber> best = {};
  std::optional<TrialNumber> best_before = {};
};

// `sweep` has an objective and the rule. `trials` in the order in which they began; `slots`: how many ran at a time.
WhatIf ReplayWithRule(const SweepDescription& sweep, const std::vector<RecordedTrial>& trials, std::size_t slots);

}  // namespace muster
