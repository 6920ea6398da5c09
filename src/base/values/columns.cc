#include "base/values/columns.h"

#include <algorithm>
#include <array>
#include <cstdint>

#include "base/values/utf8.h"

namespace muster {
namespace {

struct Range {
  std::uint32_t first;
  std::uint32_t last;
};

// Combining marks and invisible characters, of width 0 (Unicode 15, categories Mn and Cf).
constexpr std::array<Range, 6> kNone = {
    {{0x300, 0x36f}, {0x200b, 0x200f}, {0x202a, 0x202e}, {0x2060, 0x2064}, {0x20d0, 0x20ff}, {0xfe00, 0xfe0f}}};
// East Asian Width W and F.
constexpr std::array<Range, 11> kWide = {{{0x1100, 0x115f},
                                          {0x2e80, 0x303e},
                                          {0x3041, 0xa4cf},
                                          {0xac00, 0xd7a3},
                                          {0xf900, 0xfaff},
                                          {0xfe30, 0xfe6f},
                                          {0xff00, 0xff60},
                                          {0xffe0, 0xffe6},
                                          {0x1f300, 0x1f64f},
                                          {0x1f900, 0x1f9ff},
                                          {0x20000, 0x3fffd}}};

template <std::size_t N>
bool IsIn(const std::array<Range, N>& ranges, std::uint32_t character) {
  return std::any_of(ranges.begin(), ranges.end(),
                     [&](const Range& range) { return character >= range.first && character <= range.last; });
}

std::size_t ColumnsOf(std::string_view sequence) {
  if (sequence.size() == 1) return 1;
  constexpr unsigned kLeadBits[] = {0, 0x7f, 0x1f, 0x0f, 0x07};
  std::uint32_t character = static_cast<unsigned char>(sequence[0]) & kLeadBits[sequence.size()];
  for (const char c : sequence.substr(1)) character = character << 6U | (static_cast<unsigned char>(c) & 0x3fU);
  return IsIn(kNone, character) ? 0 : IsIn(kWide, character) ? 2 : 1;
}

// The number of bytes that fit, and the columns they take.
struct Fit {
  std::size_t bytes = 0;
  std::size_t columns = 0;
};

Fit FitInto(std::string_view text, std::size_t most) {
  Fit fit;
  while (fit.bytes < text.size()) {
    const std::size_t length = std::max<std::size_t>(1, Utf8Length(text.substr(fit.bytes)));
    const std::size_t more = ColumnsOf(text.substr(fit.bytes, length));
    if (fit.columns + more > most) break;
    fit.bytes += length;
    fit.columns += more;
  }
  return fit;
}

}  // namespace

std::size_t Columns(std::string_view text) { return FitInto(text, static_cast<std::size_t>(-1)).columns; }

std::string_view FirstColumns(std::string_view text, std::size_t columns) {
  return text.substr(0, FitInto(text, columns).bytes);
}

std::string InColumns(std::string_view text, std::size_t columns) {
  Fit fit = FitInto(text, columns);
  const bool cut = fit.bytes < text.size();
  if (cut && columns > 0) fit = FitInto(text, columns - 1);
  std::string out(text.substr(0, fit.bytes));
  std::replace(out.begin(), out.end(), '\t', ' ');
  if (cut && columns > 0) {
    out += "…";
    ++fit.columns;
  }
  out.append(columns - fit.columns, ' ');
  return out;
}

std::string WrappedLines(std::string_view text, std::size_t columns, std::size_t indent) {
  if (columns == 0) return std::string(text);
  // No indentation if it would leave no width for the text.
  if (indent * 2 > columns) indent = 0;
  std::string wrapped;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    std::string_view line = text.substr(begin, end - begin);
    std::size_t room = columns;
    while (Columns(line) > room) {
      const std::string_view fits = FirstColumns(line, room);
      // The blank after the last word that fits may lie beyond the limit.
      std::size_t cut = line[fits.size()] == ' ' ? fits.size() : fits.rfind(' ');
      if (cut == std::string_view::npos || fits.find_first_not_of(' ') >= cut) cut = fits.size();
      if (cut == 0) break;  // not even one character fits
      wrapped += line.substr(0, line.find_last_not_of(' ', cut - 1) + 1);
      wrapped += '\n';
      line.remove_prefix(cut);
      line.remove_prefix(std::min(line.find_first_not_of(' '), line.size()));
      wrapped.append(line.empty() ? 0 : indent, ' ');
      room = columns - indent;
    }
    wrapped += line;
    if (end < text.size()) wrapped += '\n';
    begin = end + 1;
  }
  return wrapped;
}

}  // namespace muster
