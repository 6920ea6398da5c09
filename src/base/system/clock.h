// The two clocks: monotonic for order and durations, wall for people.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace muster {

std::uint64_t MonotonicNowNs();
std::uint64_t WallNowNs();

// "2026-11-20T12:06:16.123456Z"
std::string UtcText(std::uint64_t wall_ns);

// Parses such a text into nanoseconds since 1970. Also accepts times as people write them: "2026-11-20T12:06", without
// seconds, fraction (at most 9 digits) or Z, with a blank instead of T. Nothing if it is no time between 1970 and 2550.
std::optional<std::uint64_t> ParseUtc(std::string_view text);

// "20261120-120616": local time, for names of run directories.
std::string StampText(std::uint64_t wall_ns);

}  // namespace muster
