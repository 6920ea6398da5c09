// Milliseconds of the monotonic clock.
#pragma once

#include "muster/event.h"

namespace muster {

inline constexpr MonotonicNs kMs = 1'000'000;

}  // namespace muster
