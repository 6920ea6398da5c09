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

// "90s", "250ms", "15m", "12h", "1d12h", "1.5s": seconds. Units d h m s ms in this order, each at most once. Nothing if
// the text is invalid; a number without a unit is, except 0: some readers mean days by "30", others seconds.
std::optional<double> ParseDuration(std::string_view text);

// What to write instead of a text that is no duration: the same number with units, "write 30s, 30m, 30h or 30d", or
// the example if the text is no number.
std::string DurationHint(std::string_view text, std::string_view example);

// "1.2 s", "340 ms", "2 min 5 s", "1 h 3 min": for people.
std::string DurationText(double seconds);

// Nanoseconds as seconds.
constexpr double InSeconds(std::integral auto ns) { return static_cast<double>(ns) / 1e9; }

// From one time in nanoseconds to another of the same clock; 0 if the second is earlier.
constexpr double SecondsBetween(std::uint64_t from_ns, std::uint64_t to_ns) {
  return to_ns > from_ns ? InSeconds(to_ns - from_ns) : 0;
}

}  // namespace muster
