// Failures of hosts as muster simulate and muster drill are given them: how they are drawn, or a trace in a file.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "muster/result.h"
#include "run/simulate/job_simulation.h"

namespace muster {

inline constexpr std::size_t kMaxSimulatedFailures = 5'000'000;

// Whether the shape of the Weibull distribution from which failures are drawn is one. Kind "usage".
Result<void> CheckFailureShape(double shape);

// Lines "SECONDS HOST [SECONDS DOWN]", separated by blanks, commas or tabs; '#' begins a comment. Hosts are numbers,
// those of the job from 0, then its spares. By time. `down_s`: of lines that do not say it.
Result<std::vector<SimulatedFailure>> ReadFailureTrace(const std::string& file, double down_s);

// Leaves out failures of machines from `machines` on: a trace may be that of more machines than take part. Returns a
// warning if there were any; refuses if no failure is left. `file`: of the trace.
Result<Diagnostics> LeaveOutOtherHosts(std::vector<SimulatedFailure>& failures, std::size_t machines,
                                       const std::string& file);

}  // namespace muster
