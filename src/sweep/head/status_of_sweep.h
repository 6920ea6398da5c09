// The status of a running sweep, from the state of its scheduler.
#pragma once

#include <cstdint>

#include "space/sweep_description.h"
#include "sweep/record/sweep_status.h"
#include "sweep/scheduler/trial_scheduler.h"

namespace muster {

// `began_ns` is the monotonic time at which the head started, `over_at_begin` how many trials were over then. The
// arguments must outlive the status.
SweepStatus StatusOf(const SweepDescription& sweep, const TrialScheduler& course, std::uint64_t began_ns,
                     std::uint64_t over_at_begin);

}  // namespace muster
