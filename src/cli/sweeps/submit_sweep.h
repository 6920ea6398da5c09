// Sweeps on engines, from outside of any allocation (muster sweep --on ENGINE, muster resume --on ENGINE): one job
// that carries on with the sweep in its directory, and following it; or an allocation for each trial
// (sweep/head/live_trial.h), by the command of the engine's page that holds one.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/system/mechanism.h"
#include "cli/options/batch_call.h"
#include "cli/options/named_hosts.h"
#include "cli/sweeps/run_sweep.h"
#include "cli/sweeps/sweep_options.h"
#include "engine/engine_page.h"
#include "engine/engine_settings.h"
#include "muster/result.h"
#include "run/directory/run_directory.h"
#include "sweep/head/live_trial.h"
#include "sweep/record/sweep_directory.h"

namespace muster {

// Allocations of an engine for single trials of a sweep (sweep/head/live_trial.h), from outside of any allocation: by
// the command of its page that holds one.
class EngineAllocator final : public TrialAllocator {
 public:
  // `name` is that of the jobs; `agents` has the environment of the processes, too.
  EngineAllocator(EnginePage page, EngineSettings settings, std::string name, const Without& without,
                  AgentSettings agents);

  Result<std::unique_ptr<TrialAllocation>> Request(boost::asio::io_context& io, std::uint32_t hosts,
                                                   TrialAllocation::Calls calls) override;
  Result<void> Cancel(const std::vector<std::string>& ids) override;
  std::optional<std::uint32_t> most_hosts() const override { return NodesOf(settings_); }

 private:
  const EnginePage page_;
  const EngineSettings settings_;
  const std::string name_;
  const Without without_;
  const AgentSettings agents_;
};

// muster sweep --on ENGINE and muster resume --on ENGINE outside of an allocation: submit a job that carries on with
// the sweep in its directory, and follow it.

// The options with the hosts that are requested of the engine instead of named ones. Kinds of AllocationFor and
// DescribeSweep.
Result<RequestedSweep> RequestHostsFor(const SweepOptions& options);

// Refuses each_trial of this call inside of an allocation. Kinds "usage" and those of SettingsFor.
Result<void> CheckEachTrialIsOutside(const EngineOptions& options);
// Plans trials with an allocation each for the devices that are requested, if the options of the engine say how many.
void PlanForAllocations(const RequestedSweep& requested, EvaluationOptions& evaluation);
// Refuses what makes no sense for trials with an allocation each. `slots`: how many there may be at a time. Kind
// "usage".
Result<void> CheckEachTrial(const RequestedSweep& requested, const SweepDescription& sweep,
                            std::optional<std::uint32_t> slots);

// The options of a sweep that is continued: the engine of before, unless another one is given, and options of the
// engine with the new ones on top.
SweepOptions WithEngineOf(const SweepContinuation& continuation, SweepOptions options);

// Refuses what SubmitSweep would refuse of a sweep whose directory is to be made in that folder.
Result<void> CheckSubmission(const RequestedSweep& requested, const std::string& sweeps_folder);

// Submits `muster resume` of the directory, with further words, releases its lock, and follows the sweep unless
// `start.detach`. `is_new`: the directory was made for this, and is removed if nothing is submitted. Returns the exit
// code.
int SubmitSweep(RequestedSweep requested, const SweepFile& file, RunDirectory directory, bool is_new,
                const StartOptions& start, const std::vector<std::string>& words = {});

// Submits a job that continues an existing sweep, or continues one here whose trials have allocations of their own.
// Returns the exit code.
int SubmitContinuation(const SweepContinuation& continuation);

}  // namespace muster
