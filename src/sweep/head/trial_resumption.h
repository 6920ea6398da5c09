// Finds the checkpoint from which the next attempt of a trial resumes.
//
// Reads the run directories of its earlier attempts. The plan has the location of checkpoints below them.
#pragma once

#include <optional>
#include <string>

#include "muster/plan.h"
#include "sweep/record/sweep_events.h"
#include "sweep/record/sweep_progress.h"

namespace muster {

struct TrialResumption {
  std::string run;  // id of the last attempt's run, which is resumed
  ResumedFrom from;
};

// The newest complete checkpoint of the trial's last attempt; if it wrote none, the one that it resumed from itself, if
// that still exists. Returns nothing if the trial must start from scratch: at its first attempt, after `muster retry`,
// after it diverged, or without a checkpoint. Only folders below the run directory count: any other folder could hold
// checkpoints of other trials.
std::optional<TrialResumption> ResumptionOfTrial(const std::string& sweep_dir, const SweepProgress& account,
                                                 TrialNumber trial, const CheckpointPlace& place);

}  // namespace muster
