// Tests round trips of values through JSON, and the positions of errors.
#include "base/values/value_json.h"

#include <cmath>
#include <limits>
#include <random>
#include <tuple>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace muster {
namespace {

std::string ErrorOf(std::string_view text) {
  const auto value = ValueFromJsonText(text);
  return value ? "read as " + ToText(*value) : value.error();
}

TEST(ValueJson, KeepsKindsOfValuesApart) {
  const std::pair<const char*, Value> cases[] = {
      {"null", Value()},
      {"true", Value(true)},
      {"1", Value(1)},
      {"-0", Value(0)},
      {"1.0", Value(1.0)},
      {"1e2", Value(100.0)},
      {"9223372036854775807", Value(std::numeric_limits<std::int64_t>::max())},
      {"-9223372036854775808", Value(std::numeric_limits<std::int64_t>::min())},
      {"18446744073709551615", Value(18446744073709551615.0)},
      {"\"\"", Value("")},
      {"\"\\u00e4\\n\\u0000\"", Value(std::string("ä\n\0", 4))},
      {"[]", Value(Value::List{})},
      {"{}", Value(Value::Map{})},
      {" [ 1 , { \"a\" : [ ] } ] ", Value(Value::List{Value(1), Value(Value::Map{{"a", Value(Value::List{})}})})},
  };
  for (const auto& [text, value] : cases) {
    const auto read = ValueFromJsonText(text);
    ASSERT_TRUE(read) << text;
    EXPECT_EQ(*read, value) << text;
  }
}

TEST(ValueJson, SaysWhatIsWrongAndWhere) {
  EXPECT_EQ(ErrorOf(""), "not valid JSON at byte 1");
  EXPECT_EQ(ErrorOf("[1,2"), "not valid JSON at byte 5");
  EXPECT_EQ(ErrorOf("{\"a\":1,\"a\":2}"), "the key \"a\" appears twice");
  EXPECT_EQ(ErrorOf("[[{\"b\":1,\"b\":1}]]"), "the key \"b\" appears twice");
  EXPECT_EQ(ErrorOf("1e999").substr(0, 21), "a number is too large");
  for (const char* text : {"nul", "1 2", "[1,]", "{\"a\"}", "{a:1}", "'x'", "NaN", "Infinity", "01", "+1", ".5", "1.",
                           "\"\\x\"", "\"\n\"", "\"\xff\"",
                           "\xef\xbb\xbf"
                           "1 1",
                           "//", "[1]//x"}) {
    EXPECT_TRUE(ErrorOf(text).starts_with("not valid JSON at byte ")) << text << ": " << ErrorOf(text);
  }
}

TEST(ValueJson, GoesSixtyFourLevelsDeep) {
  EXPECT_TRUE(ValueFromJsonText(std::string(64, '[') + std::string(64, ']')));
  EXPECT_EQ(ErrorOf(std::string(65, '[') + std::string(65, ']')), "nested deeper than 64");
  EXPECT_EQ(ErrorOf(std::string(1'000'000, '[')), "nested deeper than 64");
  std::string maps;
  for (int i = 0; i < 65; ++i) maps += "{\"a\":";
  EXPECT_EQ(ErrorOf(maps), "nested deeper than 64");
}

Value RandomValue(std::mt19937_64& random, int depth) {
  switch (random() % (depth > 4 ? 5 : 7)) {
    case 0:
      return {};
    case 1:
      return Value(random() % 2 == 0);
    case 2:
      return Value(static_cast<std::int64_t>(random()));
    case 3: {
      const double number = std::bit_cast<double>(random());
      return Value(std::isfinite(number) ? number : 0.1);
    }
    case 4:
      return Value(std::string(random() % 5, static_cast<char>(random() % 128)));
    case 5: {
      Value::List list(random() % 4);
      for (Value& element : list) element = RandomValue(random, depth + 1);
      return Value(std::move(list));
    }
    default: {
      Value::Map map;
      for (std::size_t n = random() % 4; n > 0; --n)
        map[std::string(1, static_cast<char>('a' + random() % 26))] = RandomValue(random, depth + 1);
      return Value(std::move(map));
    }
  }
}

TEST(ValueJson, BringsEveryValueBack) {
  std::mt19937_64 random(11);
  for (int i = 0; i < 5000; ++i) {
    const Value value = RandomValue(random, 0);
    const std::string text = ToJson(value).dump();
    const auto back = ValueFromJsonText(text);
    ASSERT_TRUE(back) << text;
    ASSERT_EQ(*back, value) << text;
    const auto located = LocatedJsonFromText(text);
    ASSERT_TRUE(located) << text;
    ASSERT_EQ(located->value, value) << text;
  }
}

// {"kkk…": {"a0": 0, "a1": 0, …}}
std::string LongKeyOver(std::size_t key, int members) {
  std::string text = "{\"" + std::string(key, 'k') + "\": {";
  for (int i = 0; i < members; ++i) text += (i == 0 ? "\"a" : ",\"a") + std::to_string(i) + "\":0";
  return text + "}}";
}

TEST(ValueJson, IsRefusedBeforeItTakesTooMuchMemory) {
  EXPECT_EQ(ValueFromJsonFile(LongKeyOver(7'000'000, 500'000)).error().message,
            "it would take more than 64 MiB of memory");
  EXPECT_TRUE(ValueFromJsonFile(LongKeyOver(7'000'000, 100'000))) << "no paths are made where none are wanted";
  std::string empty_lists = "[[]";
  while (empty_lists.size() < (8U << 20)) empty_lists += ",[]";
  EXPECT_EQ(ValueFromJsonFile(empty_lists + "]").error().message, "it would take more than 64 MiB of memory");
  EXPECT_TRUE(ValueFromJsonText(empty_lists + "]")) << "of muster's own files there may be more";
  EXPECT_EQ(ValueFromJsonText("[1,2]", 100).error(), "it would take more than 0 MiB of memory");
}

TEST(LocatedJson, PathsOfKeysCostMemoryToo) {
  EXPECT_TRUE(LocatedJsonFromText(LongKeyOver(1'000, 1'000)));
  const auto wide = LocatedJsonFromText(LongKeyOver(700'000, 1'000));
  ASSERT_FALSE(wide);
  EXPECT_EQ(wide.error().message, "it would take more than 64 MiB of memory");
  std::string deep;
  for (int i = 0; i < 60; ++i) deep += "{\"" + std::string(200'000, 'k') + "\":";
  EXPECT_EQ(LocatedJsonFromText(deep).error().message, "it would take more than 64 MiB of memory");
}

TEST(LocatedJson, KnowsTheLineOfEveryKey) {
  const auto json = LocatedJsonFromText(
      "\n{ \"a\":\n  1, \"rdr\": {\r\n\"mode\": [1,\n\n{\"deep\": 1}], \"path\"\n: 2},\n\"b\\n\": true }\n");
  ASSERT_TRUE(json);
  EXPECT_EQ(json->lines,
            (std::map<std::string, std::uint32_t>{
                {"a", 2}, {"rdr", 3}, {"rdr.mode", 4}, {"rdr.mode[2].deep", 6}, {"rdr.path", 6}, {"b\n", 8}}));
  EXPECT_EQ(json->value.AsMap()->at("a"), Value(1));
}

TEST(LocatedJson, KnowsTheLineOfEveryElement) {
  const auto json = LocatedJsonFromText("[\"a\",\n7\n, true,\n{\"b\": [\n\n[1\n,2], {\n}]}\n, 8\n]\n");
  ASSERT_TRUE(json);
  EXPECT_EQ(json->elements, (std::map<std::string, std::vector<std::uint32_t>>{
                                {"", {1, 2, 3, 4, 9}}, {"[4].b", {6, 7}}, {"[4].b[1]", {6, 7}}}));
  EXPECT_EQ(json->lines, (std::map<std::string, std::uint32_t>{{"[4].b", 4}}));
  const auto number = LocatedJsonFromText("7\n");
  ASSERT_TRUE(number);
  EXPECT_TRUE(number->elements.empty());
}

TEST(LocatedJson, SaysWhereItIsNone) {
  const std::tuple<const char*, const char*, std::uint32_t> cases[] = {
      {"", "not valid JSON at column 1", 1},
      {"{", "not valid JSON at column 1", 1},
      {"{\n\"a\": 1,\n}", "not valid JSON at column 1", 3},
      {"{\n\"a\": tru\n}", "not valid JSON at column 9", 2},
      {"{\n\"a\": 1\n} x", "not valid JSON at column 3", 3},
      {"{\"a\": 1,\n \"a\": 2}", "the key \"a\" appears twice", 2},
      {"{\"a\": {\"a\": 2}}", "", 0},
      {"[1,\n1e999]", "a number is too large at column 5", 2},
      {"\xef\xbb\xbf[]", "not valid JSON: it begins with a byte order mark", 1},
      {"\"\xff\"", "not valid JSON at column 2", 1},
  };
  for (const auto& [text, message, line] : cases) {
    const auto json = LocatedJsonFromText(text);
    EXPECT_EQ(json.has_value(), line == 0) << text;
    if (json) continue;
    EXPECT_EQ(json.error().message, message) << text;
    EXPECT_EQ(json.error().line, line) << text;
  }
}

}  // namespace
}  // namespace muster
