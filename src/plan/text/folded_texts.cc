#include "plan/text/folded_texts.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <optional>
#include <string_view>

#include "base/values/number_text.h"
#include "base/values/text_parts.h"
#include "muster/plan.h"

namespace muster {
namespace {

// A text as literal, number, literal, number, …, literal. Digits that do not survive a round trip through a number
// (leading zeros, too many digits) are literal.
struct Segments {
  std::vector<std::string> literals;
  std::vector<std::int64_t> numbers;
};

Segments Cut(std::string_view text) {
  constexpr std::size_t kMaxDigits = 18;
  Segments segments;
  std::string literal;
  for (std::size_t at = 0; at < text.size();) {
    if (!IsDigit(text[at])) {
      literal += text[at++];
      continue;
    }
    std::size_t end = at;
    while (end < text.size() && IsDigit(text[end])) ++end;
    const std::string_view digits = text.substr(at, end - at);
    at = end;
    if (digits.size() > kMaxDigits || (digits.size() > 1 && digits[0] == '0')) {
      literal += digits;
      continue;
    }
    std::int64_t number = 0;
    std::from_chars(digits.data(), digits.data() + digits.size(), number);
    segments.literals.push_back(std::move(literal));
    segments.numbers.push_back(number);
    literal.clear();
  }
  segments.literals.push_back(std::move(literal));
  return segments;
}

// A number that follows from a process's position in the plan.
struct Position {
  std::string_view name;
  std::int64_t (*of)(const Process& process);
};

constexpr Position kPositions[] = {
    {"rank", [](const Process& process) { return std::int64_t{process.rank.value_or(process.index)}; }},
    {"index", [](const Process& process) { return std::int64_t{process.index}; }},
    {"local_rank", [](const Process& process) { return std::int64_t{process.local_rank}; }},
    {"stage", [](const Process& process) { return std::int64_t{process.stage}; }},
    {"rank_in_stage", [](const Process& process) { return std::int64_t{process.rank_in_stage}; }},
    {"host", [](const Process& process) { return std::int64_t{process.host}; }},
};

using Numbers = std::vector<std::int64_t>;

std::string LinearText(std::string_view name, std::int64_t factor, std::int64_t offset) {
  std::string text(name);
  if (factor != 1) text += " × " + std::to_string(factor);
  if (offset != 0) text += (offset < 0 ? " - " : " + ") + std::to_string(offset < 0 ? -offset : offset);
  return text;
}

// factor × position + offset. Two points always lie on a line, so any rule other than the position itself requires
// three different positions.
std::optional<std::string> Linear(const Position& position, const Numbers& at, const Numbers& numbers) {
  constexpr std::int64_t kMax = std::int64_t{1} << 31;  // keeps products within 64 bits
  const auto other = std::find_if(at.begin(), at.end(), [&](std::int64_t place) { return place != at.front(); });
  if (other == at.end()) return std::nullopt;
  const std::int64_t span = *other - at.front();
  const std::int64_t rise = numbers[static_cast<std::size_t>(other - at.begin())] - numbers.front();
  if (rise % span != 0) return std::nullopt;
  const std::int64_t factor = rise / span;
  if (factor == 0 || factor > kMax || factor < -kMax) return std::nullopt;
  const std::int64_t offset = numbers.front() - factor * at.front();
  for (std::size_t i = 0; i < at.size(); ++i) {
    if (numbers[i] != factor * at[i] + offset) return std::nullopt;
  }
  const bool itself = factor == 1 && offset == 0;
  const bool third =
      std::any_of(at.begin(), at.end(), [&](std::int64_t place) { return place != at.front() && place != *other; });
  if (!itself && !third) return std::nullopt;
  return LinearText(position.name, factor, offset);
}

// Coordinates of a mesh: position / block mod count.
std::optional<std::string> Coordinate(const Position& position, const Numbers& at, const Numbers& numbers) {
  const std::int64_t count = *std::max_element(numbers.begin(), numbers.end()) + 1;
  const auto first_one = std::find(numbers.begin(), numbers.end(), 1);
  if (at.front() != 0 || first_one == numbers.end()) return std::nullopt;
  const std::int64_t block = at[static_cast<std::size_t>(first_one - numbers.begin())];
  if (block < 1) return std::nullopt;
  bool wraps = false;
  for (std::size_t i = 0; i < at.size(); ++i) {
    if (numbers[i] != at[i] / block % count) return std::nullopt;
    wraps = wraps || at[i] / block >= count;
  }
  // Two blocks without repetition are shown better as two groups.
  if (!wraps && count < 3) return std::nullopt;
  std::string text(position.name);
  if (block != 1) text += " / " + std::to_string(block);
  if (wraps) text += " mod " + std::to_string(count);
  return text;
}

// The rule for one number in all texts; nothing if no position explains it.
std::optional<std::string> Rule(const std::vector<Numbers>& positions, const Numbers& numbers) {
  for (std::size_t i = 0; i < positions.size(); ++i) {
    if (numbers == positions[i]) return Linear(kPositions[i], positions[i], numbers);
  }
  for (std::size_t i = 0; i < positions.size(); ++i) {
    if (auto rule = Linear(kPositions[i], positions[i], numbers)) return rule;
  }
  return Coordinate(kPositions[0], positions[0], numbers);
}

// One text with rules that holds for all of them.
std::optional<std::string> OneRule(const Plan& plan, std::span<const ProcessText> texts, RuleBy by) {
  const Segments first = Cut(texts.front().text);
  std::vector<Numbers> slots(first.numbers.size());
  if (slots.empty()) return std::nullopt;
  for (const ProcessText& one : texts) {
    const Segments segments = Cut(one.text);
    if (segments.literals != first.literals) return std::nullopt;
    for (std::size_t i = 0; i < slots.size(); ++i) slots[i].push_back(segments.numbers[i]);
  }
  std::vector<Numbers> positions;
  for (const Position& position : kPositions) {
    Numbers& at = positions.emplace_back();
    for (const ProcessText& one : texts) at.push_back(position.of(plan.processes[one.process]));
    if (by == RuleBy::kRank) break;  // kRank considers the first position only
  }
  std::string text = first.literals.front();
  for (std::size_t i = 0; i < slots.size(); ++i) {
    const Numbers& slot = slots[i];
    if (std::all_of(slot.begin(), slot.end(), [&](std::int64_t number) { return number == slot.front(); })) {
      text += std::to_string(slot.front());
    } else if (const auto rule = Rule(positions, slot)) {
      text += '{' + *rule + '}';
    } else {
      return std::nullopt;
    }
    text += first.literals[i + 1];
  }
  return text;
}

}  // namespace

std::vector<FoldedText> FoldTexts(const Plan& plan, std::span<const ProcessText> texts, RuleBy by) {
  std::vector<FoldedText> folded;
  if (texts.empty()) return folded;
  std::map<std::string_view, std::size_t> groups;
  for (const ProcessText& one : texts) {
    const auto [group, is_new] = groups.try_emplace(one.text, folded.size());
    if (is_new) folded.push_back({{}, one.text, false});
    folded[group->second].processes.push_back(one.process);
  }
  if (folded.size() == 1) return folded;
  if (const auto rule = OneRule(plan, texts, by)) {
    FoldedText all{{}, *rule, true};
    for (const ProcessText& one : texts) all.processes.push_back(one.process);
    return {std::move(all)};
  }
  return folded;
}

std::string ProcessesText(const Plan& plan, std::span<const std::uint32_t> processes) {
  if (processes.empty()) return {};
  const std::uint32_t role = plan.processes[processes.front()].role;
  const std::string& name = plan.roles[role].name;
  const Process& first = plan.processes[processes.front()];
  const auto of_role = [&](std::size_t at) { return at < plan.processes.size() && plan.processes[at].role == role; };
  if (processes.size() == 1 && first.index == 0 && !of_role(std::size_t{processes.front()} + 1)) return name;
  std::vector<std::uint32_t> numbers;
  numbers.reserve(processes.size());
  for (const std::uint32_t process : processes) {
    numbers.push_back(plan.processes[process].rank.value_or(plan.processes[process].index));
  }
  std::sort(numbers.begin(), numbers.end());
  return name + ' ' + NumberListText(numbers);
}

std::string ShortProcessesText(const std::string& text) {
  constexpr std::size_t kMaxRanges = 5;
  const std::size_t blank = text.rfind(' ');
  if (blank == std::string::npos) return text;
  const auto ranges = ParseNumberRanges(std::string_view(text).substr(blank + 1));
  if (!ranges || ranges->size() <= kMaxRanges) return text;
  std::uint64_t count = 0;
  for (const auto& [first, last] : *ranges) count += std::uint64_t{last} - first + 1;
  return std::to_string(count) + " of " + text.substr(0, blank + 1) + std::to_string(ranges->front().first) + '-' +
         std::to_string(ranges->back().second);
}

}  // namespace muster
