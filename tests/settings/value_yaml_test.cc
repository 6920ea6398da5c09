#include "settings/values/value_yaml.h"

#include <gtest/gtest.h>

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
  EXPECT_EQ(traps, (std::vector<std::string>{"1 no false", "3 010 8", "4 1_000 1000", "5 1:30 90",
                                             "8 08 the text \"08\"", "9 on true", "9 off false"}));
}

// The types of YAML 1.1 are those that PyYAML 6.0 gave these scalars; an empty meaning: both versions agree.
TEST(Yaml, KnowsTheTypesThatPyYamlGivesPlainScalars) {
  const std::pair<const char*, const char*> cases[] = {
      {"1e-3", "the text \"1e-3\""},
      {"5E-6", "the text \"5E-6\""},
      {"1e5", "the text \"1e5\""},
      {"1E5", "the text \"1E5\""},
      {"1e+5", "the text \"1e+5\""},
      {"1.0e5", "the text \"1.0e5\""},
      {"1.5e3", "the text \"1.5e3\""},
      {"1.5e+3", ""},
      {"1.e+3", ""},
      {".5e+3", ""},
      {".5", ""},
      {"-.5", "the text \"-.5\""},
      {"+.5", "the text \"+.5\""},
      {"5.", ""},
      {"0.", ""},
      {"1.5", ""},
      {"-1.5", ""},
      {"+1.5", ""},
      {"+1", ""},
      {"-1", ""},
      {"+7", ""},
      {"0", ""},
      {"00", ""},
      {"007", ""},
      {"010", "8"},
      {"-010", "-8"},
      {"+010", "8"},
      {"08", "the text \"08\""},
      {"09", "the text \"09\""},
      {"0o10", "the text \"0o10\""},
      {"0x1F", ""},
      {"-0x1F", "-31"},
      {"+0x1F", "31"},
      {"0x_1", "1"},
      {"0xA_B", "171"},
      {"0b11", "3"},
      {"-0b11", "-3"},
      {"0b", ""},
      {"0b_1", "1"},
      {"0b12", ""},
      {"1_000", "1000"},
      {"1_", "1"},
      {"_1", ""},
      {"1__0.5", "10.5"},
      {"685_230.15", "685230.15"},
      {"0.1_0", "0.10"},
      {"._1", ""},
      {"1:30", "90"},
      {"1:60", ""},
      {"01:30", ""},
      {"-1:30", "-90"},
      {"190:20:30", "685230"},
      {"1:30.5", "90.5"},
      {"190:20:30.15", "685230.15"},
      {"1:2:3:4", "223384"},
      {"yes", "true"},
      {"No", "false"},
      {"ON", "true"},
      {"off", "false"},
      {"y", ""},
      {"n", ""},
      {"Y", ""},
      {"N", ""},
      {"true", ""},
      {"True", ""},
      {"TRUE", ""},
      {"tRUE", ""},
      {"~", ""},
      {"null", ""},
      {"Null", ""},
      {"nULL", ""},
      {"=", "a special value that PyYAML refuses"},
      {"<<", "a merge key, which PyYAML refuses as a value"},
      {"2024-01-01", "a date"},
      {"2024-1-1", ""},
      {"2024-01-1", ""},
      {"2001-12-14t21:59:43.10-05:00", "a date"},
      {"2001-12-14T21:59:43Z", "a date"},
      {"1e", ""},
      {"1e+", ""},
      {"e5", ""},
      {"1.2.3", ""},
      {"0.1e-3", ""},
      {"12e03", "the text \"12e03\""},
      {"+12e03", "the text \"+12e03\""},
      {"1-2", ""},
      {"a:b", ""},
      {"1,000", ""},
      {"1e-05", "the text \"1e-05\""},
      {"1.0e-05", ""},
      {"1000000000000", ""},
      {"0x", ""},
      {"0o", ""},
      {"0o8", ""},
      {"--1", ""},
      {"+-1", ""},
      {".e5", ""},
      {"1_0e+5", ""},
      {"1_0.0e+5", "10.0e+5"},
      {"2024-1-1 1:00:00", "a date"},
      {"2001-12-15 2:59:43 +1", "a date"},
      {"2024-01-01 10:00", ""},
  };
  for (const auto& [plain, meaning] : cases) EXPECT_EQ(YamlOldMeaning(plain).value_or(""), meaning) << plain;
  EXPECT_EQ(YamlOldMeaning("=", true), std::nullopt) << "as a key it is a text to both";
  EXPECT_EQ(YamlOldMeaning("<<", true), std::nullopt);
}

// libyaml reads these tabs as blanks, PyYAML's own scanner refuses them.
TEST(Yaml, WarnsAboutTabsBetweenTokens) {
  const auto lines = [](std::string_view text) {
    const auto read = ValueFromYamlText(text);
    if (!read) return std::string("unreadable");
    std::string noted;
    for (const YamlText::Trap& trap : read->traps) {
      if (trap.plain == "a tab") noted += std::to_string(trap.line) + " ";
    }
    return noted;
  };
  EXPECT_EQ(lines("a:\tb\nc: d\ne:\tf\t\n"), "1 3 ");
  EXPECT_EQ(lines("a: b\t# comment\n"), "1 ");
  EXPECT_EQ(lines("[1,\t2]"), "1 ");
  EXPECT_EQ(lines("a: b\tc\n"), "1 ") << "plain texts hold none";
  EXPECT_EQ(lines("é: 'ü\tü'\na: \"x\ty\"\nb: |\n  two\t\n  lines\t3\n# com\tment\nc: 1 # x\ty\n"), "");
  EXPECT_EQ(lines("a: 'x'\t\nb: 1\n"), "1 ");
}

TEST(Yaml, KeepsFloatsApartFromInts) {
  for (const char* text : {"1.0", "1e3", "5.", "-0.0", "!!float 1"}) {
    const auto read = ValueFromYamlText(text);
    ASSERT_TRUE(read) << text;
    EXPECT_NE(read->value.AsDouble(), nullptr) << text;
  }
  EXPECT_EQ(YamlTextOf(Value(Value::List{Value(1.0), Value(1), Value(1e5), Value(-2.0)})),
            "- 1.0\n- 1\n- 1.0e+05\n- -2.0\n");
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
