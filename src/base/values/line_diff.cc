#include "base/values/line_diff.h"

#include <algorithm>

#include "base/values/text_parts.h"

namespace muster {
namespace {

constexpr std::size_t kMaxPairs = 4'000'000;

using Lines = std::vector<std::string_view>;

}  // namespace

std::vector<LineChange> DiffLines(std::string_view before, std::string_view after) {
  const Lines a = TextLines(before);
  const Lines b = TextLines(after);
  std::size_t begin = 0;
  while (begin < a.size() && begin < b.size() && a[begin] == b[begin]) ++begin;
  std::size_t end_a = a.size();
  std::size_t end_b = b.size();
  while (end_a > begin && end_b > begin && a[end_a - 1] == b[end_b - 1]) {
    --end_a;
    --end_b;
  }
  const std::size_t rows = end_a - begin;
  const std::size_t columns = end_b - begin;
  std::vector<LineChange> changes;
  const auto remove = [&](std::size_t i) {
    changes.push_back({false, static_cast<std::uint32_t>(begin + i + 1), std::string(a[begin + i])});
  };
  const auto add = [&](std::size_t i) {
    changes.push_back({true, static_cast<std::uint32_t>(begin + i + 1), std::string(b[begin + i])});
  };
  if (columns != 0 && rows > kMaxPairs / columns) {
    for (std::size_t i = 0; i < rows; ++i) remove(i);
    for (std::size_t i = 0; i < columns; ++i) add(i);
    return changes;
  }
  // Longest common subsequence: length[i][j] is that of the rest of both texts from i and j on.
  std::vector<std::uint32_t> length((rows + 1) * (columns + 1), 0);
  const auto at = [&](std::size_t i, std::size_t j) -> std::uint32_t& { return length[i * (columns + 1) + j]; };
  for (std::size_t i = rows; i-- > 0;) {
    for (std::size_t j = columns; j-- > 0;) {
      at(i, j) = a[begin + i] == b[begin + j] ? at(i + 1, j + 1) + 1 : std::max(at(i + 1, j), at(i, j + 1));
    }
  }
  std::size_t i = 0;
  std::size_t j = 0;
  while (i < rows || j < columns) {
    if (i < rows && j < columns && a[begin + i] == b[begin + j]) {
      ++i;
      ++j;
    } else if (i < rows && (j == columns || at(i + 1, j) >= at(i, j + 1))) {
      remove(i++);
    } else {
      add(j++);
    }
  }
  return changes;
}

namespace {

// A line of either text, or of both.
struct DiffLine {
  char mark = ' ';
  std::uint32_t a = 0;  // line number in the first text, or that of the next line there; from 1
  std::uint32_t b = 0;
  std::string text;
};

std::string RangeText(std::uint32_t first, std::uint32_t count) {
  // An empty range is identified by the line before it.
  const std::string begin = std::to_string(count == 0 ? first - 1 : first);
  return count == 1 ? begin : begin + "," + std::to_string(count);
}

}  // namespace

std::vector<std::string> UnifiedDiff(std::string_view before, std::string_view after, std::uint32_t context) {
  // A missing newline at the end counts as a difference of the last line.
  constexpr std::string_view kNoEnd = "\n\\ No newline at end of file";
  const auto ended = [&](std::string_view text) { return text.empty() || text.ends_with('\n'); };
  Lines a = TextLines(before);
  Lines b = TextLines(after);
  std::string whole_a(before), whole_b(after);
  const bool ends_differ = ended(before) != ended(after) && !a.empty() && !b.empty() && a.back() == b.back();
  if (ends_differ) (ended(before) ? whole_b : whole_a) += '\x01';  // makes the last lines differ
  std::vector<DiffLine> diff;
  std::uint32_t at_a = 1, at_b = 1;
  const auto same_until = [&](std::uint32_t to_a) {
    for (; at_a < to_a; ++at_a, ++at_b) diff.push_back({' ', at_a, at_b, std::string(a[at_a - 1])});
  };
  for (const LineChange& change : DiffLines(whole_a, whole_b)) {
    same_until(change.added ? at_a + (change.line - at_b) : change.line);
    diff.push_back({change.added ? '+' : '-', at_a, at_b, std::string((change.added ? b : a)[change.line - 1])});
    ++(change.added ? at_b : at_a);
  }
  same_until(static_cast<std::uint32_t>(a.size()) + 1);
  for (DiffLine& line : diff) {
    const bool last_of_a = line.mark != '+' && line.a == a.size() && !ended(before);
    const bool last_of_b = line.mark != '-' && line.b == b.size() && !ended(after);
    if (line.mark == ' ' ? last_of_a && last_of_b : last_of_a || last_of_b) line.text += kNoEnd;
  }
  std::vector<std::string> lines;
  for (std::size_t i = 0; i < diff.size();) {
    if (diff[i].mark == ' ') {
      ++i;
      continue;
    }
    // Changes that are at most two contexts apart form one hunk.
    std::size_t last = i;
    for (std::size_t j = i; j < diff.size() && j <= last + 2 * context + 1; ++j) {
      if (diff[j].mark != ' ') last = j;
    }
    const std::size_t begin = i - std::min<std::size_t>(i, context);
    const std::size_t end = std::min<std::size_t>(diff.size(), last + context + 1);
    std::uint32_t of_a = 0, of_b = 0;
    for (std::size_t j = begin; j < end; ++j) {
      of_a += diff[j].mark != '+' ? 1 : 0;
      of_b += diff[j].mark != '-' ? 1 : 0;
    }
    lines.push_back("@@ -" + RangeText(diff[begin].a, of_a) + " +" + RangeText(diff[begin].b, of_b) + " @@");
    for (std::size_t j = begin; j < end; ++j) {
      const std::size_t newline = diff[j].text.find('\n');
      lines.push_back(diff[j].mark + diff[j].text.substr(0, newline));
      if (newline != std::string::npos) lines.push_back(diff[j].text.substr(newline + 1));
    }
    i = end;
  }
  return lines;
}

}  // namespace muster
