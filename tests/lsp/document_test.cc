// Tests positions, changes and URIs of documents.
#include "lsp/document.h"

#include <gtest/gtest.h>

namespace muster {
namespace {

constexpr auto kUtf16 = PositionEncoding::kUtf16;
constexpr auto kUtf8 = PositionEncoding::kUtf8;
// "a", then U+00D7 (two bytes, one unit), U+1F600 (four bytes, two units), and lines with both ends.
constexpr std::string_view kText = "a\xC3\x97\xF0\x9F\x98\x80z\r\nsecond\n\nlast";

Value Edit(int line, int from, int to, const std::string& text) {
  return Value::Map{{"range", Value::Map{{"start", Value::Map{{"line", line}, {"character", from}}},
                                         {"end", Value::Map{{"line", line}, {"character", to}}}}},
                    {"text", text}};
}

TEST(Positions, CountUtf16UnitsOrBytes) {
  EXPECT_EQ(OffsetOf(kText, {0, 2}, kUtf16), 3U);
  EXPECT_EQ(OffsetOf(kText, {0, 4}, kUtf16), 7U);
  EXPECT_EQ(OffsetOf(kText, {0, 3}, kUtf8), 3U);
  EXPECT_EQ(PositionOf(kText, 7, kUtf16), (Position{0, 4}));
  EXPECT_EQ(PositionOf(kText, 7, kUtf8), (Position{0, 7}));
}

TEST(Positions, WithinACodePointMeanItsBegin) {
  EXPECT_EQ(OffsetOf(kText, {0, 3}, kUtf16), 3U);
  EXPECT_EQ(OffsetOf(kText, {0, 5}, kUtf8), 3U);
}

TEST(Positions, BehindALineOrTheTextMeanItsEnd) {
  EXPECT_EQ(OffsetOf(kText, {0, 99}, kUtf16), 8U);  // before "\r\n"
  EXPECT_EQ(OffsetOf(kText, {1, 99}, kUtf16), 16U);
  EXPECT_EQ(OffsetOf(kText, {2, 5}, kUtf16), 17U);
  EXPECT_EQ(OffsetOf(kText, {99, 0}, kUtf16), kText.size());
  EXPECT_EQ(OffsetOf("", {0, 1}, kUtf16), 0U);
}

TEST(Positions, AreInverseForEveryOffsetOfACodePoint) {
  for (const auto encoding : {kUtf16, kUtf8}) {
    for (const std::size_t offset : {0U, 1U, 3U, 7U, 8U, 10U, 12U, 16U, 17U, 18U, 22U}) {
      EXPECT_EQ(OffsetOf(kText, PositionOf(kText, offset, encoding), encoding), offset) << offset;
    }
  }
}

TEST(Changes, ReplaceARangeOrTheWholeText) {
  std::string text(kText);
  ASSERT_TRUE(ApplyChange(text, Edit(0, 2, 4, "Z"), kUtf16, 100));
  EXPECT_EQ(text, "a\xC3\x97Zz\r\nsecond\n\nlast");
  ASSERT_TRUE(ApplyChange(text, Edit(1, 0, 6, ""), kUtf16, 100));
  EXPECT_EQ(text, "a\xC3\x97Zz\r\n\n\nlast");
  ASSERT_TRUE(ApplyChange(text, Value::Map{{"text", "all"}}, kUtf16, 100));
  EXPECT_EQ(text, "all");
}

TEST(Changes, ThatAreInvalidOrTooLargeChangeNothing) {
  std::string text = "abc";
  EXPECT_FALSE(ApplyChange(text, Edit(0, 2, 1, "x"), kUtf16, 100));
  EXPECT_FALSE(ApplyChange(text, Edit(0, -1, 1, "x"), kUtf16, 100));
  EXPECT_FALSE(ApplyChange(text, Edit(0, 0, 0, "xx"), kUtf16, 4));
  EXPECT_FALSE(ApplyChange(text, Value::Map{{"text", "abcde"}}, kUtf16, 4));
  EXPECT_FALSE(ApplyChange(text, Value::Map{{"text", 1}}, kUtf16, 4));
  EXPECT_FALSE(ApplyChange(text, Value::Map{{"range", 1}, {"text", "a"}}, kUtf16, 4));
  EXPECT_FALSE(ApplyChange(text, Value(1), kUtf16, 4));
  EXPECT_EQ(text, "abc");
}

TEST(FileUris, ArePathsAndBack) {
  EXPECT_EQ(PathOfUri("file:///a%20b/%C3%A4.lua"), "/a b/\xC3\xA4.lua");
  EXPECT_EQ(PathOfUri("file://localhost/a"), "/a");
  EXPECT_EQ(UriOfPath("/a b/\xC3\xA4.lua"), "file:///a%20b/%C3%A4.lua");
  for (const char* const uri :
       {"http://x/a", "file://host/a", "untitled:1", "file:///%zz", "file:///%0", "file:///%00", "file:///%ff", ""}) {
    EXPECT_FALSE(PathOfUri(uri)) << uri;
  }
}

}  // namespace
}  // namespace muster
