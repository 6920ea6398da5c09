// Reads ended attempts from their run directories: those that may have succeeded while their head was dead, and those
// that a later attempt continues.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "sweep/head/live_trial.h"
#include "sweep/scheduler/trial_scheduler.h"

namespace muster {

// Its end with its reports, if its run succeeded. Else it is interrupted and has to be retried; its time is until the
// last sign of it: an entry, a report or a line of a log.
TrialScheduler::AttemptEnd RecoverAttemptEnd(TrialSetting& setting, const std::string& id, std::uint32_t attempt);

// Calls `report` for each report of the attempts that `began` continues, in order; `plan` is that of `began`.
void ReplayEarlierReports(TrialSetting& setting, const SweepProgress& account, const AttemptBegan& began,
                          const Plan& plan, const std::function<void(const MetricReport&)>& report);

}  // namespace muster
