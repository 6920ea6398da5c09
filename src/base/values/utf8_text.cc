#include "base/values/utf8_text.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <vector>

#include "base/values/quoting.h"

namespace muster {

std::size_t Utf8Length(std::string_view bytes) {
  if (bytes.empty()) return 0;
  const auto at = [&](std::size_t i) { return static_cast<unsigned char>(bytes[i]); };
  const unsigned char first = at(0);
  if (first < 0x80) return 1;
  std::size_t length = 0;
  unsigned char low = 0x80;
  unsigned char high = 0xbf;
  if (first >= 0xc2 && first <= 0xdf) {
    length = 2;
  } else if (first >= 0xe0 && first <= 0xef) {
    length = 3;
    if (first == 0xe0) low = 0xa0;   // overlong
    if (first == 0xed) high = 0x9f;  // surrogates
  } else if (first >= 0xf0 && first <= 0xf4) {
    length = 4;
    if (first == 0xf0) low = 0x90;   // overlong
    if (first == 0xf4) high = 0x8f;  // beyond U+10FFFF
  } else {
    return 0;
  }
  if (bytes.size() < length || at(1) < low || at(1) > high) return 0;
  for (std::size_t i = 2; i < length; ++i) {
    if (at(i) < 0x80 || at(i) > 0xbf) return 0;
  }
  return length;
}

bool IsUtf8(std::string_view bytes) {
  while (!bytes.empty()) {
    // Nearly all texts are ASCII: check eight bytes at a time.
    while (bytes.size() >= sizeof(std::uint64_t)) {
      std::uint64_t word = 0;
      std::memcpy(&word, bytes.data(), sizeof word);
      if ((word & 0x8080808080808080U) != 0) break;
      bytes.remove_prefix(sizeof word);
    }
    // The rest of an ASCII text is shorter than a word.
    while (!bytes.empty() && static_cast<signed char>(bytes.front()) >= 0) bytes.remove_prefix(1);
    if (bytes.empty()) return true;
    const std::size_t length = Utf8Length(bytes);
    if (length == 0) return false;
    bytes.remove_prefix(length);
  }
  return true;
}

std::string_view Utf8Prefix(std::string_view bytes, std::size_t size) {
  if (bytes.size() <= size) return bytes;
  constexpr std::size_t kMaxSequence = 4;
  for (std::size_t back = 1; back < kMaxSequence && back <= size; ++back) {
    const std::size_t start = size - back;
    const std::size_t length = Utf8Length(bytes.substr(start));
    if (length > back) return bytes.substr(0, start);
    if (length > 0) break;
  }
  return bytes.substr(0, size);
}

namespace {

// UTF-16 of mostly ASCII text, with or without the mark at its beginning.
bool IsUtf16(std::string_view bytes) {
  if (bytes.starts_with("\xff\xfe") || bytes.starts_with("\xfe\xff")) return true;
  const auto zeros = [&](std::size_t from) {
    std::size_t count = 0;
    for (std::size_t i = from; i < bytes.size(); i += 2) count += bytes[i] == '\0' ? 1 : 0;
    return count;
  };
  const std::size_t half = bytes.size() / 2;
  if (half < 4) return false;
  const std::size_t even = zeros(0);
  const std::size_t odd = zeros(1);
  return (even == 0 && odd * 10 > half * 9) || (odd == 0 && even * 10 > half * 9);
}

}  // namespace

std::optional<EncodingProblem> FindEncodingProblem(std::string_view bytes) {
  if (IsUtf16(bytes)) return EncodingProblem{"it is UTF-16", "UTF-16", 0};
  if (bytes.find('\0') != std::string_view::npos) return EncodingProblem{"it is a binary file", "", 0};
  if (IsUtf8(bytes)) return std::nullopt;
  std::size_t line = 1;
  std::size_t at = 0;
  for (std::size_t length = 0; (length = Utf8Length(bytes.substr(at))) > 0; at += length) {
    if (bytes[at] == '\n') ++line;
  }
  // Control characters other than blanks do not stand in texts.
  const bool is_binary = std::any_of(bytes.begin(), bytes.end(), [](char c) {
    return static_cast<unsigned char>(c) < ' ' && c != '\n' && c != '\r' && c != '\t' && c != '\f' && c != '\v';
  });
  if (is_binary) return EncodingProblem{"it is a binary file", "", 0};
  std::string byte = Quoted(bytes.substr(at, 1));
  return EncodingProblem{"byte " + byte.substr(1, byte.size() - 2) + " is not UTF-8", "LATIN1", line};
}

std::string EncodingHint(const EncodingProblem& problem, const std::string& file) {
  if (problem.encoding.empty()) return {};
  return "iconv -f " + problem.encoding + " -t UTF-8 " + ShellQuoted(file) + " > NEW";
}

namespace {

struct Range {
  std::uint32_t first;
  std::uint32_t last;
};

// Combining marks and invisible characters, of width 0 (Unicode 15, categories Mn and Cf).
constexpr std::array<Range, 6> kNoColumns = {
    {{0x300, 0x36f}, {0x200b, 0x200f}, {0x202a, 0x202e}, {0x2060, 0x2064}, {0x20d0, 0x20ff}, {0xfe00, 0xfe0f}}};
// East Asian Width W and F.
constexpr std::array<Range, 11> kTwoColumns = {{{0x1100, 0x115f},
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
  return IsIn(kNoColumns, character) ? 0 : IsIn(kTwoColumns, character) ? 2 : 1;
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

namespace {

// Columns without colours.
std::size_t ShownColumns(std::string_view text) {
  std::string plain;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\x1b') {
      while (i < text.size() && text[i] != 'm') ++i;
    } else {
      plain += text[i];
    }
  }
  return Columns(plain);
}

bool IsSourceLine(std::string_view line) {
  const std::size_t digits = line.find_first_not_of(' ');
  if (digits == std::string_view::npos || digits == 0) return false;
  const std::size_t behind = line.find_first_not_of("0123456789", digits);
  return behind != digits && behind != std::string_view::npos && line.substr(behind).starts_with(" | ");
}

// Where a command begins, at or behind `from`: it goes on to the end of the line, or to a semicolon.
std::size_t CommandIn(std::string_view line, std::size_t from) {
  constexpr std::string_view kMuster = "muster ";
  for (std::size_t at = line.find(kMuster, from); at != std::string_view::npos; at = line.find(kMuster, at + 1)) {
    const std::string_view before = line.substr(0, at);
    if (before.ends_with(": ") || (before.ends_with("write ") && before.size() > from)) return at;
  }
  return line.size();
}

// The line in parts that are not broken, each with the blanks before it.
std::vector<std::string_view> PartsOf(std::string_view line, std::size_t columns) {
  std::vector<std::string_view> parts;
  const std::size_t command = CommandIn(line, 0);
  std::size_t begin = 0;
  while (begin < line.size()) {
    const std::size_t word = std::min(line.find_first_not_of(' ', begin), line.size());
    std::size_t end = std::min(line.find(' ', word), line.size());
    if (word == command) {
      end = std::min(line.find("; ", word), line.size());
      if (end < line.size()) ++end;
    } else if (const std::size_t tick = line.substr(word, end - word).find('`'); tick != std::string_view::npos) {
      const std::size_t close = line.find('`', word + tick + 1);
      const std::size_t whole = close == std::string_view::npos ? end : std::min(line.find(' ', close), line.size());
      if (ShownColumns(line.substr(word, whole - word)) + 2 <= columns) end = whole;
    }
    parts.push_back(line.substr(begin, end - begin));
    begin = end;
  }
  return parts;
}

// The column of the value behind the head of the line, "  log       logs/…"; else two further in than the line.
std::size_t ContinuationOf(std::string_view line, std::size_t columns) {
  const std::size_t begin = std::min(line.find_first_not_of(' '), line.size());
  const std::size_t gap = line.find("  ", begin);
  if (gap != std::string_view::npos) {
    const std::size_t value = line.find_first_not_of(' ', gap);
    const std::size_t column = ShownColumns(line.substr(0, std::min(value, line.size())));
    if (value != std::string_view::npos && column * 5 <= columns * 2) return column;
  }
  return begin + 2;
}

}  // namespace

std::string FittedLines(std::string_view text, std::size_t columns) {
  constexpr std::size_t kNarrowest = 40;
  if (columns < kNarrowest) return std::string(text);
  std::string fitted;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    const std::string_view line = text.substr(begin, end - begin);
    if (ShownColumns(line) <= columns || IsSourceLine(line)) {
      fitted += line;
    } else {
      const std::size_t indent = ContinuationOf(line, columns);
      std::size_t used = 0;
      bool first = true;
      for (std::string_view part : PartsOf(line, columns - indent)) {
        if (!first && used + ShownColumns(part) > columns) {
          part.remove_prefix(std::min(part.find_first_not_of(' '), part.size()));
          if (part.empty()) continue;
          fitted += '\n';
          fitted.append(indent, ' ');
          used = indent;
        }
        fitted += part;
        used += ShownColumns(part);
        first = false;
      }
    }
    if (end < text.size()) fitted += '\n';
    begin = end + 1;
  }
  return fitted;
}

}  // namespace muster
