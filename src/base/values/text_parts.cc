#include "base/values/text_parts.h"

#include <algorithm>

#include "base/values/utf8_text.h"

namespace muster {

std::string Counted(std::uint64_t count, std::string_view thing) {
  std::string text = std::to_string(count) + ' ';
  text += thing;
  return count == 1 ? text : text + 's';
}

std::string Counted(std::uint64_t count, std::string_view one, std::string_view many) {
  std::string text = std::to_string(count) + ' ';
  return text += count == 1 ? one : many;
}

std::string Padded(std::string text, std::size_t columns) {
  const std::size_t taken = Columns(text);
  text.append(columns > taken ? columns - taken : 0, ' ');
  return text;
}

std::string_view Trimmed(std::string_view text) {
  constexpr std::string_view kBlank = " \t\r\n";
  const std::size_t begin = text.find_first_not_of(kBlank);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(kBlank) - begin + 1);
}

std::vector<std::string_view> TextLines(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    lines.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

std::string_view LastLine(std::string_view text) {
  text = Trimmed(text);
  return text.substr(text.find_last_of("\r\n") + 1);  // from the beginning if there is none
}

bool IsDigits(std::string_view text) { return !text.empty() && std::all_of(text.begin(), text.end(), IsDigit); }

bool IsIdentifier(std::string_view text) {
  return !text.empty() && !IsDigit(text.front()) &&
         std::all_of(text.begin(), text.end(), [](char c) { return IsLetterOrDigit(c) || c == '_'; });
}

}  // namespace muster
