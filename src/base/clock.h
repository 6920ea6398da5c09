// The two clocks: monotonic for order and durations, wall for people.
#pragma once

#include <cstdint>
#include <string>

namespace muster {

std::uint64_t MonotonicNowNs();
std::uint64_t WallNowNs();

// "2026-11-20T12:06:16.123456Z"
std::string UtcText(std::uint64_t wall_ns);

// "20261120-120616": local time, for names of run directories.
std::string StampText(std::uint64_t wall_ns);

}  // namespace muster
