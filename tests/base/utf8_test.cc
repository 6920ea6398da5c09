// Tests UTF-8 validation according to RFC 3629.
#include <string>

#include <gtest/gtest.h>

#include "base/values/utf8_text.h"

namespace muster {
namespace {

std::string Encoded(std::uint32_t code) {
  const auto byte = [](std::uint32_t bits) { return static_cast<char>(bits); };
  if (code < 0x80) return {byte(code)};
  if (code < 0x800) return {byte(0xc0 | code >> 6), byte(0x80 | (code & 63))};
  if (code < 0x10000) return {byte(0xe0 | code >> 12), byte(0x80 | (code >> 6 & 63)), byte(0x80 | (code & 63))};
  return {byte(0xf0 | code >> 18), byte(0x80 | (code >> 12 & 63)), byte(0x80 | (code >> 6 & 63)),
          byte(0x80 | (code & 63))};
}

TEST(Utf8, AcceptsEveryCodePointButNoSurrogate) {
  for (std::uint32_t code = 0; code <= 0x10ffff; ++code) {
    const std::string text = Encoded(code);
    const bool surrogate = code >= 0xd800 && code <= 0xdfff;
    ASSERT_EQ(IsUtf8(text), !surrogate) << std::hex << code;
    ASSERT_EQ(Utf8Length(text), surrogate ? 0 : text.size()) << std::hex << code;
  }
}

TEST(Utf8, RefusesOverlongTruncatedAndTooLargeSequences) {
  for (const char* bad : {"\xc0\x80", "\xc1\xbf", "\xe0\x9f\xbf", "\xf0\x8f\xbf\xbf", "\xf4\x90\x80\x80",
                          "\xf5\x80\x80\x80", "\xff", "\x80", "\xc3", "\xe2\x82", "\xf0\x9f\x98", "\xe2\x28\xa1"}) {
    EXPECT_FALSE(IsUtf8(bad));
    EXPECT_EQ(Utf8Length(bad), 0U);
  }
}

TEST(Utf8, ChecksEveryByteAtAnyPosition) {
  for (std::size_t position = 0; position < 40; ++position) {
    std::string text(40, 'a');
    EXPECT_TRUE(IsUtf8(text));
    text[position] = '\xff';
    EXPECT_FALSE(IsUtf8(text)) << position;
  }
}

TEST(Utf8, CutsBetweenSequences) {
  const std::string text = "ab\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80z";  // a b ä € 😀 z
  const std::size_t expected[] = {0, 1, 2, 2, 4, 4, 4, 7, 7, 7, 7, 11, 12};
  for (std::size_t size = 0; size <= text.size(); ++size) {
    EXPECT_EQ(Utf8Prefix(text, size).size(), expected[size]) << size;
  }
  EXPECT_EQ(Utf8Prefix(text, 99), text);
  EXPECT_EQ(Utf8Prefix("\x80\x80\x80\x80\x80", 3).size(), 3U) << "not UTF-8 in the first place";
}

}  // namespace
}  // namespace muster
