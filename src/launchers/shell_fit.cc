#include "launchers/shell_fit.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdint>

#include "base/values/parse_number.h"

namespace muster {
namespace {

bool IsDigit(char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; }

// Text, number, text, …, text: an odd number of parts.
std::vector<std::string> Parts(const std::string& text) {
  std::vector<std::string> parts(1);
  for (const char c : text) {
    if (IsDigit(c) != (parts.size() % 2 == 0)) parts.emplace_back();
    parts.back() += c;
  }
  if (parts.size() % 2 == 0) parts.emplace_back();
  return parts;
}

std::int64_t NumberOf(const ProcessPlace& place, CallWord::Number number) {
  if (number == CallWord::Number::kRank) return place.rank;
  return number == CallWord::Number::kHost ? place.host : place.local_rank;
}

// The column of numbers as `times` that number of the process plus `added`.
std::optional<CallWord> Linear(const std::vector<std::int64_t>& column, const std::vector<ProcessPlace>& places,
                               CallWord::Number number) {
  std::size_t other = 0;
  while (other < places.size() && NumberOf(places[other], number) == NumberOf(places[0], number)) ++other;
  if (other == places.size()) return std::nullopt;
  const std::int64_t step = NumberOf(places[other], number) - NumberOf(places[0], number);
  const std::int64_t grown = column[other] - column[0];
  if (grown % step != 0) return std::nullopt;
  const std::int64_t times = grown / step;
  const std::int64_t added = column[0] - times * NumberOf(places[0], number);
  constexpr std::int64_t kMax = 1'000'000'000;
  if (times < 1 || times > kMax || added > kMax || added < -kMax) return std::nullopt;
  for (std::size_t i = 0; i < places.size(); ++i) {
    if (column[i] != times * NumberOf(places[i], number) + added) return std::nullopt;
  }
  CallWord word;
  word.number = number;
  word.times = static_cast<int>(times);
  word.added = static_cast<int>(added);
  return word;
}

}  // namespace

CallWord FittedWord(const std::vector<std::string>& texts, const std::vector<ProcessPlace>& places,
                    const std::string& shifted, bool by_rank) {
  if (std::all_of(texts.begin(), texts.end(), [&](const std::string& one) { return one == texts.front(); }))
    return CallWord{texts.front()};
  CallWord listed;
  listed.number = CallWord::Number::kListed;
  listed.listed = texts;
  std::vector<std::vector<std::string>> parts;
  for (const std::string& text : texts) {
    parts.push_back(Parts(text));
    if (parts.back().size() != parts.front().size()) return listed;
  }
  const std::vector<std::string> other = Parts(shifted);
  std::vector<CallWord> words = {CallWord{}};
  for (std::size_t p = 0; p < parts.front().size(); ++p) {
    const bool same =
        std::all_of(parts.begin(), parts.end(), [&](const auto& one) { return one[p] == parts.front()[p]; });
    if (same) {
      (words.back().number ? words.back().after : words.back().text) += parts.front()[p];
      continue;
    }
    if (p % 2 == 0) return listed;
    std::vector<std::int64_t> column;
    for (const auto& one : parts) {
      const auto number = ParseNumber<std::int32_t>(one[p]);
      if (!number || (one[p].size() > 1 && one[p].front() == '0')) return listed;
      column.push_back(*number);
    }
    using enum CallWord::Number;
    const bool of_rank = by_rank || (other.size() == parts.front().size() && other[p] != parts.front()[p]);
    const std::array order = of_rank ? std::array{kRank, kLocalRank, kHost} : std::array{kLocalRank, kHost, kRank};
    std::optional<CallWord> fitted;
    for (const CallWord::Number number : order) {
      if (!fitted) fitted = Linear(column, places, number);
    }
    if (!fitted) return listed;
    if (words.back().number) words.emplace_back();
    fitted->text = words.back().text;
    words.back() = *std::move(fitted);
  }
  CallWord word = words.front();
  word.rest.assign(words.begin() + 1, words.end());
  return word;
}

}  // namespace muster
