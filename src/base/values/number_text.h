// Numbers as text, independent of the locale: parsing of whole texts, lists such as "0-3,7", sizes and durations.
#pragma once

#include <charconv>
#include <concepts>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

namespace muster {

// Parses a whole text as one number.

// Without blanks, a leading '+' or anything behind the number; nullopt otherwise, and for a number that does not fit.
template <std::integral Number>
std::optional<Number> ParseNumber(std::string_view text, int base = 10) {
  Number number = 0;
  const char* const end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, number, base);
  if (error != std::errc() || rest != end) return std::nullopt;
  return number;
}

// Parses and formats lists of numbers such as "0-3,7".

using NumberRange = std::pair<std::uint32_t, std::uint32_t>;  // both ends included

// Numbers and ranges, separated by commas, without blanks, in the order written. Nothing if the text is invalid or
// empty, a range runs backwards, or a number exceeds 32 bits.
std::optional<std::vector<NumberRange>> ParseNumberRanges(std::string_view text);

// The numbers, ascending, without duplicates. Nothing if ParseNumberRanges refuses the text, or a number is `limit` or
// more.
std::optional<std::vector<std::uint32_t>> ParseNumberList(std::string_view text, std::uint32_t limit = 65'536);

// The shortest such text for ascending numbers: "0-3,7"; empty for no numbers.
std::string NumberListText(const std::vector<std::uint32_t>& numbers);

// Parses and formats sizes and durations.

// "512", "30GiB" (2^30-based), "3.5GB" (10^9-based); units B KB MB GB TB PB KiB MiB GiB TiB PiB, no blanks.
// Nothing if the text is invalid or not a whole number of bytes below 2^63.
std::optional<std::int64_t> ParseBytes(std::string_view text);

// "90s", "250ms", "15m", "12h", "1d12h", "1.5s": seconds. Units d h m s ms in this order, each at most once. Nothing if
// the text is invalid; a number without a unit is, except 0: some readers mean days by "30", others seconds.
std::optional<double> ParseDuration(std::string_view text);

// What to write instead of a text that is no duration: the same number with units, "write 30s, 30m, 30h or 30d", or
// the example if the text is no number.
std::string DurationHint(std::string_view text, std::string_view example);

// "1.2 s", "340 ms", "2 min 5 s", "1 h 3 min", "2 d 5 h": for people.
std::string DurationText(double seconds);

// Nanoseconds as seconds.
constexpr double InSeconds(std::integral auto ns) { return static_cast<double>(ns) / 1e9; }

// From one time in nanoseconds to another of the same clock; 0 if the second is earlier.
constexpr double SecondsBetween(std::uint64_t from_ns, std::uint64_t to_ns) {
  return to_ns > from_ns ? InSeconds(to_ns - from_ns) : 0;
}

}  // namespace muster
