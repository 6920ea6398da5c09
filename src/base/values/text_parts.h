// Texts put together from parts, and taken apart: joining, numbers of things, blanks around a text, lines, names.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace muster {

// "a, b, c": the texts in order, with `between` between them and `before_last` (" and ") before the last one.
template <class Texts>
std::string Joined(const Texts& texts, std::string_view between, std::string_view before_last) {
  std::string joined;
  std::size_t left = std::size(texts);
  for (const std::string_view text : texts) {
    joined += text;
    if (--left > 0) joined += left == 1 ? before_last : between;
  }
  return joined;
}
template <class Texts>
std::string Joined(const Texts& texts, std::string_view between = ",") {
  return Joined(texts, between, between);
}

// "1 host", "2 hosts"; "1 process", "2 processes" with both forms.
std::string Counted(std::uint64_t count, std::string_view thing);
std::string Counted(std::uint64_t count, std::string_view one, std::string_view many);

// The text with blanks behind it up to so many terminal columns; a wider one as it is.
std::string Padded(std::string text, std::size_t columns);

// Without blanks, tabs and ends of lines around it.
std::string_view Trimmed(std::string_view text);

// The lines without their '\n'; what is behind the last one is a line, too, unless it is empty.
std::vector<std::string_view> TextLines(std::string_view text);

// The last line that is not blank; '\r' ends a line, too.
std::string_view LastLine(std::string_view text);

// ASCII characters, in any locale.
constexpr bool IsDigit(char c) { return c >= '0' && c <= '9'; }
constexpr bool IsLetter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
constexpr bool IsLetterOrDigit(char c) { return IsLetter(c) || IsDigit(c); }

// Whether the text has digits alone, and at least one.
bool IsDigits(std::string_view text);

// Whether the text is a name in Lua and in shells: ASCII letters, digits and '_', not beginning with a digit.
bool IsIdentifier(std::string_view text);

}  // namespace muster
