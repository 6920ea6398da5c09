// muster sweep --on ENGINE and muster resume --on ENGINE outside of an allocation: submit a job that carries on with
// the sweep in its directory, and follow it.
#pragma once

#include <string>
#include <vector>

#include "cli/options/batch_call.h"
#include "cli/sweeps/run_sweep.h"
#include "cli/sweeps/sweep_options.h"
#include "muster/result.h"
#include "run/directory/run_directory.h"
#include "sweep/record/sweep_directory.h"

namespace muster {

// The options with the hosts that are requested of the engine instead of named ones. Kinds of AllocationFor and
// DescribeSweep.
Result<RequestedSweep> RequestHostsFor(const SweepOptions& options);

// Submits `muster resume` of the directory, with further words, releases its lock, and follows the sweep unless
// `start.detach`. Returns the exit code.
int SubmitSweep(RequestedSweep requested, const SweepFile& file, RunDirectory directory, const SweepStartOptions& start,
                const std::vector<std::string>& words = {});

// Submits a job that continues an existing sweep. Returns the exit code.
int SubmitContinuation(const SweepContinuation& continuation);

}  // namespace muster
