// What follows a failure: another attempt or none, and whether it is the host's.
#pragma once

#include <cstdint>

#include "space/sweep_description.h"

namespace muster {

// So often a trial is tried again for what was not its own fault; then it counts as its own.
inline constexpr std::uint32_t kMostUncounted = 10;

struct RetryVerdict {
  bool again = false;
  bool counted = true;

  bool operator==(const RetryVerdict&) const = default;
};

// `counted` attempts before it count, `free` ones had failed and do not. Hosts that were lost and processes that were
// ended from outside are not the trial's fault. Without a list in `choice.on` everything is tried again but what the
// next attempt would do, too: diverging, and refusing what it was given.
RetryVerdict AfterFailure(const RetryChoice& choice, TrialClass trial_class, std::uint32_t counted, std::uint32_t free);

}  // namespace muster
