#include "lsp/document.h"

#include <algorithm>
#include <limits>

#include "base/values/utf8_text.h"
#include "base/values/value_json.h"

namespace muster {
namespace {

// Where the line ends: before its "\n", or "\r\n".
std::size_t LineEnd(std::string_view text, std::size_t begin) {
  std::size_t end = std::min(text.find('\n', begin), text.size());
  if (end > begin && end < text.size() && text[end - 1] == '\r') --end;
  return end;
}

// UTF-16 units of the code point whose UTF-8 sequence has so many bytes.
std::uint32_t UnitsOf(std::size_t bytes, PositionEncoding encoding) {
  if (encoding == PositionEncoding::kUtf8) return static_cast<std::uint32_t>(bytes);
  return bytes == 4 ? 2 : 1;
}

std::size_t StepAt(std::string_view text, std::size_t at) {
  return std::max<std::size_t>(1, Utf8Length(text.substr(at, 4)));
}

std::optional<int> HexDigit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return std::nullopt;
}

Value PositionValue(Position position) {
  return Value::Map{{"line", std::int64_t{position.line}}, {"character", std::int64_t{position.character}}};
}

}  // namespace

std::size_t OffsetOf(std::string_view text, Position position, PositionEncoding encoding) {
  std::size_t begin = 0;
  for (std::uint32_t line = 0; line < position.line; ++line) {
    const std::size_t end = text.find('\n', begin);
    if (end == std::string_view::npos) return text.size();
    begin = end + 1;
  }
  const std::size_t end = LineEnd(text, begin);
  std::uint32_t units = 0;
  std::size_t at = begin;
  while (at < end && units < position.character) {
    const std::size_t bytes = StepAt(text, at);
    units += UnitsOf(bytes, encoding);
    if (units > position.character) break;
    at += bytes;
  }
  return std::min(at, end);
}

Position PositionOf(std::string_view text, std::size_t offset, PositionEncoding encoding) {
  offset = std::min(offset, text.size());
  Position position;
  std::size_t begin = 0;
  for (std::size_t end = text.find('\n'); end < offset; end = text.find('\n', begin)) {
    begin = end + 1;
    ++position.line;
  }
  for (std::size_t at = begin; at < offset;) {
    const std::size_t bytes = StepAt(text, at);
    if (at + bytes > offset) break;
    position.character += UnitsOf(bytes, encoding);
    at += bytes;
  }
  return position;
}

std::optional<std::size_t> LineBegin(std::string_view text, std::uint32_t line) {
  std::size_t begin = 0;
  for (std::uint32_t at = 1; at < line; ++at) {
    const std::size_t end = text.find('\n', begin);
    if (end == std::string_view::npos) return std::nullopt;
    begin = end + 1;
  }
  return begin;
}

std::optional<Position> PositionFrom(const Value& value) {
  const std::int64_t* const line = ValueField(value, "line").AsInt();
  const std::int64_t* const character = ValueField(value, "character").AsInt();
  constexpr std::int64_t kMax = std::numeric_limits<std::int32_t>::max();
  if (line == nullptr || character == nullptr || *line < 0 || *character < 0) return std::nullopt;
  return Position{static_cast<std::uint32_t>(std::min(*line, kMax)),
                  static_cast<std::uint32_t>(std::min(*character, kMax))};
}

Value RangeValue(std::string_view text, std::size_t begin, std::size_t end, PositionEncoding encoding) {
  return Value::Map{{"start", PositionValue(PositionOf(text, begin, encoding))},
                    {"end", PositionValue(PositionOf(text, end, encoding))}};
}

bool ApplyChange(std::string& text, const Value& change, PositionEncoding encoding, std::size_t most) {
  const std::string* const inserted = ValueField(change, "text").AsString();
  if (inserted == nullptr || inserted->size() > most) return false;
  const Value& range = ValueField(change, "range");
  if (range.IsNull()) {
    text = *inserted;
    return true;
  }
  const auto start = PositionFrom(ValueField(range, "start"));
  const auto end = PositionFrom(ValueField(range, "end"));
  if (!start || !end) return false;
  const std::size_t first = OffsetOf(text, *start, encoding);
  const std::size_t last = OffsetOf(text, *end, encoding);
  if (last < first || text.size() - (last - first) + inserted->size() > most) return false;
  text.replace(first, last - first, *inserted);
  return true;
}

std::optional<std::string> PathOfUri(std::string_view uri) {
  constexpr std::string_view kScheme = "file://";
  if (!uri.starts_with(kScheme)) return std::nullopt;
  uri.remove_prefix(kScheme.size());
  if (constexpr std::string_view kHost = "localhost"; uri.starts_with(kHost)) uri.remove_prefix(kHost.size());
  if (!uri.starts_with('/')) return std::nullopt;
  std::string path;
  for (std::size_t i = 0; i < uri.size(); ++i) {
    if (uri[i] == '?' || uri[i] == '#') break;
    if (uri[i] != '%') {
      path += uri[i];
      continue;
    }
    if (i + 2 >= uri.size()) return std::nullopt;
    const auto high = HexDigit(uri[i + 1]);
    const auto low = HexDigit(uri[i + 2]);
    if (!high || !low) return std::nullopt;
    path += static_cast<char>(*high * 16 + *low);
    i += 2;
  }
  if (path.find('\0') != std::string::npos || !IsUtf8(path)) return std::nullopt;
  return path;
}

std::string UriOfPath(std::string_view path) {
  constexpr std::string_view kDigits = "0123456789ABCDEF";
  constexpr std::string_view kPlain = "-._~/";
  std::string uri = "file://";
  for (const char c : path) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                       kPlain.find(c) != std::string_view::npos;
    if (plain) {
      uri += c;
      continue;
    }
    const auto byte = static_cast<unsigned char>(c);
    uri += '%';
    uri += kDigits[byte >> 4U];
    uri += kDigits[byte & 15U];
  }
  return uri;
}

}  // namespace muster
