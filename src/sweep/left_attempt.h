// An attempt whose head died: perhaps it came to its end all the same, and only nobody wrote that down.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "sweep/live_trial.h"
#include "sweep/sweep_course.h"

namespace muster {

// Its end with what it reported, if its run ended well; nothing if it has to be tried again.
std::optional<SweepCourse::AttemptEnd> EndOfLeftAttempt(TrialSetting& setting, const std::string& id,
                                                        std::uint32_t attempt);

}  // namespace muster
