// The path of a process's log, relative to the run directory. Computed from names only.
#pragma once

#include <cstdint>
#include <string>

#include "muster/event.h"
#include "muster/plan.h"

namespace muster {

// "logs/worker.2.0.log".
std::string LogPath(const Plan& plan, ProcessId process, std::uint32_t attempt);

}  // namespace muster
