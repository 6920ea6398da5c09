// Attempts that have ended, read from their run directories: one whose head died, which perhaps succeeded although
// nobody recorded it, and those that a later attempt continues.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "sweep/course/sweep_course.h"
#include "sweep/head/live_trial.h"

namespace muster {

// Its end with what it reported, if its run ended well; nothing if it has to be tried again.
std::optional<SweepCourse::AttemptEnd> EndOfLeftAttempt(TrialSetting& setting, const std::string& id,
                                                        std::uint32_t attempt);

// Calls `report` for each report of the attempts that `began` continues, in order; `plan` is that of `began`.
void ForEachEarlierReport(TrialSetting& setting, const SweepAccount& account, const AttemptBegan& began,
                          const Plan& plan, const std::function<void(const MetricReport&)>& report);

}  // namespace muster
