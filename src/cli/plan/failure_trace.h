// Traces of failures of hosts: a file that muster simulate and muster drill read.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "muster/result.h"
#include "run/simulate/job_simulation.h"

namespace muster {

inline constexpr std::size_t kMaxSimulatedFailures = 5'000'000;

// Lines "SECONDS HOST [SECONDS DOWN]", separated by blanks, commas or tabs; '#' begins a comment. Hosts are numbers,
// those of the job from 0, then its spares. By time. `down_s`: of lines that do not say it.
Result<std::vector<SimulatedFailure>> ReadFailureTrace(const std::string& file, double down_s);

}  // namespace muster
