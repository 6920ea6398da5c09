#include "run/journal/head_facts.h"

#include <cstddef>

namespace muster {

std::string_view PhaseName(Phase phase) { return kPhaseNames[static_cast<std::size_t>(phase)]; }

std::string_view OutcomeName(Cause cause) {
  constexpr std::string_view kNames[kCauseNames.size()] = {"ok",      "failed", "failed", "failed",
                                                           "stopped", "failed", "lost",   "lost"};
  return kNames[static_cast<std::size_t>(cause)];
}

}  // namespace muster
