// Lists of numbers as people and the kernel write them: "0-3,7". Knows numbers, not what they count.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace muster {

using NumberRange = std::pair<std::uint32_t, std::uint32_t>;  // both ends belong to it

// Numbers and ranges, separated by commas, without blanks, in the order written. Nothing if the text is something else
// (also if it is empty), a range runs backwards, or a number is beyond 32 bits.
std::optional<std::vector<NumberRange>> ParseNumberRanges(std::string_view text);

// The numbers themselves, ascending, each once. Nothing for what ParseNumberRanges refuses, and for a number of
// `limit` or more.
std::optional<std::vector<std::uint32_t>> ParseNumberList(std::string_view text, std::uint32_t limit = 65'536);

// The shortest such text for ascending numbers: "0-3,7"; empty for none.
std::string NumberListText(const std::vector<std::uint32_t>& numbers);

}  // namespace muster
