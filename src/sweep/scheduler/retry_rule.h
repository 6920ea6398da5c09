// Decides after a failure whether to retry the trial, and whether to blame the host.
#pragma once

#include <cstdint>

#include "space/sweep_description.h"

namespace muster {

// Limit for retries after failures that the trial did not cause; further ones count.
inline constexpr std::uint32_t kMostUncounted = 10;

struct RetryVerdict {
  bool again = false;
  bool counted = true;

  bool operator==(const RetryVerdict&) const = default;
};

// `counted` earlier attempts count, `free` ones failed without counting. Lost hosts and processes that were killed from
// outside are not caused by the trial. Without a list in `choice.on` everything is retried except failures that would
// recur: divergence and refused input.
RetryVerdict AfterFailure(const RetryChoice& choice, TrialClass trial_class, std::uint32_t counted, std::uint32_t free);

}  // namespace muster
