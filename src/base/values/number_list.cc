#include "base/values/number_list.h"

#include <algorithm>
#include <charconv>

namespace muster {

std::optional<std::vector<NumberRange>> ParseNumberRanges(std::string_view text) {
  std::vector<NumberRange> ranges;
  const char* at = text.data();
  const char* const end = at + text.size();
  const auto number = [&](std::uint32_t& into) {
    const auto [after, error] = std::from_chars(at, end, into);
    at = after;
    return error == std::errc();
  };
  for (;;) {
    NumberRange range;
    if (!number(range.first)) return std::nullopt;
    range.second = range.first;
    if (at != end && *at == '-') {
      ++at;
      if (!number(range.second) || range.second < range.first) return std::nullopt;
    }
    ranges.push_back(range);
    if (at == end) return ranges;
    if (*at++ != ',') return std::nullopt;
  }
}

std::optional<std::vector<std::uint32_t>> ParseNumberList(std::string_view text, std::uint32_t limit) {
  const auto ranges = ParseNumberRanges(text);
  if (!ranges) return std::nullopt;
  std::vector<bool> named;
  for (const auto& [first, last] : *ranges) {
    if (last >= limit) return std::nullopt;
    if (named.size() <= last) named.resize(std::size_t{last} + 1);
    std::fill(named.begin() + first, named.begin() + last + 1, true);
  }
  std::vector<std::uint32_t> numbers;
  for (std::uint32_t i = 0; i < named.size(); ++i) {
    if (named[i]) numbers.push_back(i);
  }
  return numbers;
}

std::string NumberListText(const std::vector<std::uint32_t>& numbers) {
  std::string text;
  for (std::size_t i = 0; i < numbers.size();) {
    std::size_t last = i;
    while (last + 1 < numbers.size() && numbers[last + 1] == numbers[last] + 1) ++last;
    if (!text.empty()) text += ',';
    text += std::to_string(numbers[i]);
    if (last > i) text += '-' + std::to_string(numbers[last]);
    i = last + 1;
  }
  return text;
}

}  // namespace muster
