// Parses and formats sizes and durations.
#pragma once

#include <concepts>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace muster {

// "512", "30GiB" (2^30-based), "3.5GB" (10^9-based); units B KB MB GB TB PB KiB MiB GiB TiB PiB, no blanks.
// Nothing if the text is invalid or not a whole number of bytes below 2^63.
std::optional<std::int64_t> ParseBytes(std::string_view text);

// "90s", "250ms", "15m", "12h", "1d12h", "1.5s": seconds. Units d h m s ms in this order, each at most once; a bare
// number is seconds. Nothing if the text is invalid.
std::optional<double> ParseDuration(std::string_view text);

// "1.2 s", "340 ms", "2 min 5 s", "1 h 3 min": for people.
std::string DurationText(double seconds);

// Nanoseconds as seconds.
constexpr double InSeconds(std::integral auto ns) { return static_cast<double>(ns) / 1e9; }

// From one time in nanoseconds to another of the same clock; 0 if the second is earlier.
constexpr double SecondsBetween(std::uint64_t from_ns, std::uint64_t to_ns) {
  return to_ns > from_ns ? InSeconds(to_ns - from_ns) : 0;
}

}  // namespace muster
