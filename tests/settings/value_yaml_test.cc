#include "settings/values/value_yaml.h"

#include <gtest/gtest.h>

#include "settings/values/yaml_scalar.h"

namespace muster {
namespace {

// The value as text, or "LINE: message".
std::string Read(std::string_view text) {
  const auto read = ValueFromYamlText(text);
  if (!read) return std::to_string(read.error().line) + ": " + read.error().message;
  return ToText(read->value);
}

TEST(Yaml, IsReadByTheCoreSchema) {
  const std::pair<const char*, const char*> cases[] = {
      {"", "null"},
      {"# nothing\n", "null"},
      {"~", "null"},
      {"true", "true"},
      {"FALSE", "false"},
      {"no", "\"no\""},
      {"on", "\"on\""},
      {"y", "\"y\""},
      {"010", "10"},
      {"0o10", "8"},
      {"0x1F", "31"},
      {"-7", "-7"},
      {"+7", "7"},
      {"1_000", "\"1_000\""},
      {"1:30", "\"1:30\""},
      {"1e-3", "0.001"},
      {".5", "0.5"},
      {"5.", "5"},
      {"1e3", "1000"},
      {"1.2.3", "\"1.2.3\""},
      {"2026-11-22", "\"2026-11-22\""},
      {"'1'", "\"1\""},
      {"\"a\\nb\"", "\"a\\nb\""},
      {"!!str 1", "\"1\""},
      {"!!float 1", "1"},
      {"!!int \"1\"", "1"},
      {"[1, two, [3.5, null]]", "{1, \"two\", {3.5, null}}"},
      {"a: 1\nb:\n- x\n- {c: d}\n", "{a = 1, b = {\"x\", {c = \"d\"}}}"},
      {"1: one\ntrue: yes it is\n", "{[\"1\"] = \"one\", true = \"yes it is\"}"},
      {"|\n  two\n  lines\n", "\"two\\nlines\\n\""},
      {"\xEF\xBB\xBF"
       "a: 李明\r\n",
       "{a = \"李明\"}"},
      {"base: &b {lr: 1, wd: 2}\nown:\n  <<: *b\n  lr: 3\n", "{base = {lr = 1, wd = 2}, own = {lr = 3, wd = 2}}"},
      {"'<<': 7\n", "{[\"<<\"] = 7}"},
      {"a: &x [1]\nb: *x\n", "{a = {1}, b = {1}}"},
      {"--- 1\n...\n", "1"},
  };
  for (const auto& [text, value] : cases) EXPECT_EQ(Read(text), value) << text;
}

TEST(Yaml, ThatARecipeCannotHoldIsRefusedAtItsLine) {
  const std::pair<const char*, const char*> cases[] = {
      {"a: 1\nb: .inf\n", "2: .inf is not a finite number"},
      {"a: 1\na: 2\n", "appears twice"},
      {"--- 1\n--- 2\n", "2: there is a second document"},
      {"a: *nowhere\n", "is nowhere"},
      {"a: &a [*a]\n", "is used before it is complete"},
      {"? [1]\n: 2\n", "a key is a text, not a list"},
      {"a: !!python/object:os.system x\n", "has no counterpart in a recipe"},
      {"a: !mine {}\n", "has no counterpart in a recipe"},
      {"a: !!int x\n", "does not match its tag"},
      {"a: 9007199254740993\n", "beyond 2^53"},
      {"a: 1e999\n", "fits no number"},
      {"a: [1\n", "did not find"},
      {"a:\n\t- 1\n", "2: "},
      {"a: 1\n<<: 7\n", "<< merges maps"},
      {"\xff", "not valid UTF-8"},
      {"a: \"\\0\"\n", "a text holds a NUL"},
  };
  for (const auto& [text, said] : cases)
    EXPECT_NE(Read(text).find(said), std::string::npos) << text << ": " << Read(text);
}

TEST(Yaml, CannotGrowWithoutEndThroughAliases) {
  std::string bomb = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n";
  for (int i = 1; i < 12; ++i) {
    const std::string before = "*a" + std::to_string(i - 1);
    bomb += "a" + std::to_string(i) + ": &a" + std::to_string(i) + " [" + before;
    for (int j = 0; j < 9; ++j) bomb += ", " + before;
    bomb += "]\n";
  }
  EXPECT_NE(Read(bomb).find("more than 100000 values"), std::string::npos) << Read(bomb).substr(0, 200);
  std::string large = "a: &a " + std::string(1U << 20, 'x') + "\n";
  for (int i = 0; i < 20; ++i) large += "b" + std::to_string(i) + ": *a\n";
  EXPECT_NE(Read(large).find("more than 16 MiB"), std::string::npos);
  std::string nested;
  for (int i = 0; i < 25; ++i) nested += "&a" + std::to_string(i) + " [";
  nested += "\"" + std::string(1U << 20, 'x') + "\"" + std::string(25, ']');
  EXPECT_NE(Read(nested).find("more than 16 MiB"), std::string::npos) << "each anchor holds what is in it";
  EXPECT_NE(Read(std::string(40, '[') + std::string(40, ']')).find("deeper than 30"), std::string::npos);
}

TEST(Yaml, WarnsAboutValuesThatOlderReadersReadDifferently) {
  const auto read =
      ValueFromYamlText("a: no\nb: 'no'\nc: 010\nd: 1_000\ne: 1:30\nf: 1.5\ng: !!str on\nh: 08\non: {off: 1}\n");
  ASSERT_TRUE(read);
  std::vector<std::string> traps;
  for (const YamlText::Trap& trap : read->traps) {
    traps.push_back(std::to_string(trap.line) + " " + trap.plain + " " + trap.old_meaning);
  }
  EXPECT_EQ(traps, (std::vector<std::string>{"1 no false", "3 010 8", "4 1_000 1000", "5 1:30 90", "9 on true",
                                             "9 off false"}));
}

TEST(Yaml, IsWrittenSoThatItReadsBackAlike) {
  const Value value(Value::Map{
      {"b", Value(Value::List{Value(1), Value(0.00001), Value(1e21), Value(), Value(true)})},
      {"a key: odd", Value(Value::Map{})},
      {"empty", Value(Value::List{})},
      {"texts", Value(Value::List{Value("plain text"), Value("no"), Value("1e3"), Value(""), Value(" x"), Value("a: b"),
                                  Value("#1"), Value("two\nlines\n"), Value("李明"), Value("/data/x.bin"),
                                  Value("${muster:port:rpc}"), Value("${muster:run_dir}/x"), Value("- x"), Value("~"),
                                  Value("2026-11-22")})}});
  EXPECT_EQ(YamlTextOf(value),
            "\"a key: odd\": {}\n"
            "b:\n"
            "- 1\n"
            "- 1.0e-05\n"
            "- 1.0e+21\n"
            "- null\n"
            "- true\n"
            "empty: []\n"
            "texts:\n"
            "- plain text\n"
            "- \"no\"\n"
            "- \"1e3\"\n"
            "- \"\"\n"
            "- \" x\"\n"
            "- \"a: b\"\n"
            "- \"#1\"\n"
            "- \"two\\nlines\\n\"\n"
            "- \"李明\"\n"
            "- /data/x.bin\n"
            "- ${muster:port:rpc}\n"
            "- \"${muster:run_dir}/x\"\n"
            "- \"- x\"\n"
            "- \"~\"\n"
            "- \"2026-11-22\"\n");
  EXPECT_EQ(Read(YamlTextOf(value)), ToText(value));
}

TEST(Yaml, IsPlainOnlyWhereNobodyCanMistakeIt) {
  for (const char* text : {"adam", "a b", "/x/y", "_x", "v1.2", "a-b+c"}) EXPECT_TRUE(IsPlainYamlText(text)) << text;
  for (const char* text : {"", "No", "NULL", "n", "1", "-x", ".5", "a ", "a:b", "a#b", "{x", "é", "a\nb", "true"}) {
    EXPECT_FALSE(IsPlainYamlText(text)) << text;
  }
}

}  // namespace
}  // namespace muster
