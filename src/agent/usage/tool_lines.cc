#include "agent/usage/tool_lines.h"

#include <algorithm>
#include <cstddef>

namespace muster {
namespace {

constexpr std::size_t kMostLines = 65'536;

std::string_view Trimmed(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t\r");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t\r") + 1 - first);
}

}  // namespace

std::vector<std::string_view> ToolLines(std::string_view output) {
  std::vector<std::string_view> lines;
  while (!output.empty() && lines.size() < kMostLines) {
    const std::size_t end = std::min(output.find('\n'), output.size());
    lines.push_back(output.substr(0, end));
    output.remove_prefix(std::min(end + 1, output.size()));
  }
  return lines;
}

std::vector<std::string_view> ToolWords(std::string_view line, char separator) {
  std::vector<std::string_view> words;
  const auto add = [&](std::string_view word) {
    const std::string_view trimmed = Trimmed(word);
    if (!trimmed.empty() || separator != ' ') words.push_back(trimmed);
  };
  for (std::size_t end = line.find(separator); end != std::string_view::npos; end = line.find(separator)) {
    add(line.substr(0, end));
    line.remove_prefix(end + 1);
  }
  add(line);
  return words;
}

}  // namespace muster
