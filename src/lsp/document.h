// Texts of open documents: positions of the protocol (lines and UTF-16 or UTF-8 units) as offsets of bytes, changes of
// ranges, and file URIs as paths. Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "muster/value.h"

namespace muster {

enum class PositionEncoding : std::uint8_t { kUtf16, kUtf8 };

struct Position {
  std::uint32_t line = 0;       // from 0
  std::uint32_t character = 0;  // units of the encoding

  bool operator==(const Position&) const = default;
};

// The offset in a UTF-8 text. A character behind the end of the line means its end, a line behind the last one the end
// of the text, and one within a code point its begin.
std::size_t OffsetOf(std::string_view text, Position position, PositionEncoding encoding);
Position PositionOf(std::string_view text, std::size_t offset, PositionEncoding encoding);

// The offset at which the line begins (from 1, as in places); nothing behind the last one.
std::optional<std::size_t> LineBegin(std::string_view text, std::uint32_t line);

// Positions and ranges of messages; nothing for a value that is none.
std::optional<Position> PositionFrom(const Value& value);
Value RangeValue(std::string_view text, std::size_t begin, std::size_t end, PositionEncoding encoding);

// Applies one change of textDocument/didChange, with or without a range; false, and nothing changed, for an invalid one
// and one after which the text would be longer than `most`.
bool ApplyChange(std::string& text, const Value& change, PositionEncoding encoding, std::size_t most);

// "file:///a%20b" -> "/a b"; nothing for other schemes and hosts, invalid escapes and NUL.
std::optional<std::string> PathOfUri(std::string_view uri);
std::string UriOfPath(std::string_view path);

}  // namespace muster
