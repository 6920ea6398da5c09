// Tests the reasons why a file is not UTF-8 text.
#include <gtest/gtest.h>

#include "base/values/utf8_text.h"

namespace muster::testing {
namespace {

using namespace std::string_view_literals;

TEST(TextEncoding, OfTextsIsNoProblem) {
  for (const std::string_view text : {""sv, "return 1\n"sv, "\xef\xbb\xbfreturn 1"sv, "-- caf\xc3\xa9"sv}) {
    EXPECT_FALSE(FindEncodingProblem(text)) << text;
  }
}

TEST(TextEncoding, IsNamedWithItsLine) {
  const struct {
    std::string_view bytes;
    const char* what;
    const char* encoding;
    std::size_t line;
  } cases[] = {
      {"\xff\xfer\0e\0"sv, "it is UTF-16", "UTF-16", 0},
      {"\xfe\xff\0r\0e"sv, "it is UTF-16", "UTF-16", 0},
      {"r\0e\0t\0u\0r\0n\0 \0"sv, "it is UTF-16", "UTF-16", 0},
      {"\0r\0e\0t\0u\0r\0n\0 "sv, "it is UTF-16", "UTF-16", 0},
      {"-- a\n-- caf\xe9\n"sv, "byte \\xe9 is not UTF-8", "LATIN1", 2},
      {"return \0 1"sv, "it is a binary file", "", 0},
      {"\x7f"
       "ELF\x02\x01\xff"sv,
       "it is a binary file", "", 0},
  };
  for (const auto& test : cases) {
    const auto problem = FindEncodingProblem(test.bytes);
    ASSERT_TRUE(problem) << test.what;
    EXPECT_EQ(problem->what, test.what);
    EXPECT_EQ(problem->encoding, test.encoding);
    EXPECT_EQ(problem->line, test.line) << test.what;
  }
}

}  // namespace
}  // namespace muster::testing
