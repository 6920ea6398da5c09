#include "base/line_diff.h"

#include <algorithm>

namespace muster {
namespace {

constexpr std::size_t kMostPairs = 4'000'000;

using Lines = std::vector<std::string_view>;

Lines Cut(std::string_view text) {
  Lines lines;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    lines.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

}  // namespace

std::vector<LineChange> DiffLines(std::string_view before, std::string_view after) {
  const Lines a = Cut(before);
  const Lines b = Cut(after);
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
  if (columns != 0 && rows > kMostPairs / columns) {
    for (std::size_t i = 0; i < rows; ++i) remove(i);
    for (std::size_t i = 0; i < columns; ++i) add(i);
    return changes;
  }
  // Longest common subsequence: length[i][j] is that of what is left of both from i and j on.
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

}  // namespace muster
