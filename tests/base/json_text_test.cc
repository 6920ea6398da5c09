#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "base/values/quoting.h"
#include "base/values/value_text.h"

namespace muster {
namespace {

TEST(JsonText, EscapesWhatATerminalObeysOrHides) {
  EXPECT_EQ(JsonText(Value("\x1b\x7f")), R"("\u001b\u007f")");
  EXPECT_EQ(JsonText(Value("\xc2\x80 \xc2\x9b \xc2\x9f")), R"("\u0080 \u009b \u009f")");
  EXPECT_EQ(JsonText(Value("\xd8\x9c\xe2\x80\xae\xe2\x81\xa6\xef\xbb\xbf")), R"("\u061c\u202e\u2066\ufeff")");
  EXPECT_EQ(JsonText(Value("é 中 😀 \xc2\xa0")), "\"é 中 😀 \xc2\xa0\"");
  EXPECT_EQ(JsonText(Value(Value::Map{{"k\xc2\x9b", Value(1)}})), R"({"k\u009b":1})");
  EXPECT_EQ(JsonText(Value("\x9b")), "\"\uFFFD\"") << "a byte that is not UTF-8";
}

TEST(JsonText, OfATreeEscapesTheSameAndKeepsItsLines) {
  const nlohmann::ordered_json tree = {{"a\x7f", "x\xc2\x9by"}, {"b", 1}};
  EXPECT_EQ(SerializedJson(tree, 1), "{\n \"a\\u007f\": \"x\\u009by\",\n \"b\": 1\n}");
}

TEST(JsonText, IsReadBackAsItWas) {
  std::string every;  // all characters of one and two bytes, and the block of marks
  for (unsigned c = 0; c < 0x80; ++c) every += static_cast<char>(c);
  for (unsigned c = 0x80; c < 0x800; ++c) {
    every += static_cast<char>(0xc0 | c >> 6);
    every += static_cast<char>(0x80 | (c & 0x3f));
  }
  for (unsigned c = 0x80; c < 0xc0; ++c) every += {'\xe2', '\x80', static_cast<char>(c)};
  const std::string text = JsonText(Value(every));
  EXPECT_EQ(PrintableLines(text), text);
  EXPECT_EQ(nlohmann::json::parse(text).get<std::string>(), every);
}

}  // namespace
}  // namespace muster
