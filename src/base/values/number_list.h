// Parses and formats lists of numbers such as "0-3,7".
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace muster {

using NumberRange = std::pair<std::uint32_t, std::uint32_t>;  // both ends included

// Numbers and ranges, separated by commas, without blanks, in the order written. Nothing if the text is invalid or
// empty, a range runs backwards, or a number exceeds 32 bits.
std::optional<std::vector<NumberRange>> ParseNumberRanges(std::string_view text);

// The numbers, ascending, without duplicates. Nothing if ParseNumberRanges refuses the text, or a number is `limit` or
// more.
std::optional<std::vector<std::uint32_t>> ParseNumberList(std::string_view text, std::uint32_t limit = 65'536);

// The shortest such text for ascending numbers: "0-3,7"; empty for no numbers.
std::string NumberListText(const std::vector<std::uint32_t>& numbers);

}  // namespace muster
