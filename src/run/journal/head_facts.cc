#include "run/journal/head_facts.h"

#include <cstddef>

namespace muster {

std::string_view PhaseName(Phase phase) {
  constexpr std::string_view kNames[kPhases] = {"preparing", "starting",  "running", "lingering",
                                                "stopping",  "finishing", "done"};
  return kNames[static_cast<std::size_t>(phase)];
}

std::string_view CauseName(Cause cause) {
  constexpr std::string_view kNames[kCauses] = {"none",    "failed",     "spawn", "unready",
                                                "stopped", "time_limit", "lost",  "overdue"};
  return kNames[static_cast<std::size_t>(cause)];
}

std::string_view OutcomeName(Cause cause) {
  constexpr std::string_view kNames[kCauses] = {"ok",      "failed", "failed", "failed",
                                                "stopped", "failed", "lost",   "lost"};
  return kNames[static_cast<std::size_t>(cause)];
}

}  // namespace muster
