#include "base/values/utf8.h"

#include <cstdint>
#include <cstring>

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
  constexpr std::size_t kLongestSequence = 4;
  for (std::size_t back = 1; back < kLongestSequence && back <= size; ++back) {
    const std::size_t start = size - back;
    const std::size_t length = Utf8Length(bytes.substr(start));
    if (length > back) return bytes.substr(0, start);
    if (length > 0) break;
  }
  return bytes.substr(0, size);
}

}  // namespace muster
