// Tests muster.flags: parameters as arguments, in the grammar of the program that reads them.
#include <gtest/gtest.h>

#include "lua/evaluated.h"
#include "support/command.h"

namespace muster::testing {
namespace {

// The words for a value of a parameter `s`, or its first problem.
std::vector<std::string> FlagsOf(const std::string& declaration, const Value& value, const std::string& options) {
  const Evaluated evaluated =
      Evaluate({Recipe("job:workers { count = 1, command = { 'x', muster.flags(p, { " + options + " }) } }",
                       "params = { s = muster." + declaration + " },"),
                {Json("s", value)}});
  if (!evaluated.problems().empty()) return {evaluated.problems().front()};
  std::vector<std::string> words = CommandOf(evaluated.plan(), "worker.0");
  words.erase(words.begin());
  return words;
}

std::string Hydra(const std::string& declaration, const Value& value) {
  const std::vector<std::string> words = FlagsOf(declaration, value, "style = 'hydra'");
  return words.size() == 1 && words.front().starts_with("s=") ? words.front().substr(2) : words.front();
}

// Each of these was read back by Hydra's own parser (grammar of its version 1.4) as the same text, alone, in lists and
// in maps.
TEST(HydraFlags, QuotesTextsThatItsGrammarWouldReadOtherwise) {
  const std::pair<const char*, const char*> cases[] = {
      {"x", "x"},
      {"1e-3", "\"1e-3\""},
      {"5", "\"5\""},
      {"-5", "\"-5\""},
      {"+5", "\"+5\""},
      {"5.", "\"5.\""},
      {"0", "\"0\""},
      {"007", "\"007\""},
      {"1_000", "\"1_000\""},
      {"true", "\"true\""},
      {"False", "\"False\""},
      {"TRUE", "\"TRUE\""},
      {"null", "\"null\""},
      {"Null", "\"Null\""},
      {"nan", "\"nan\""},
      {"inf", "\"inf\""},
      {"-inf", "\"-inf\""},
      {"+NaN", "\"+NaN\""},
      {"[1,2]", "\"[1,2]\""},
      {"{a:1}", "\"{a:1}\""},
      {"a,b", "\"a,b\""},
      {"choice(a,b)", "\"choice(a,b)\""},
      {"range(1,3)", "\"range(1,3)\""},
      {"glob(*)", "\"glob(*)\""},
      {" a ", "\" a \""},
      {"a b", "\"a b\""},
      {"", "\"\""},
      {"  ", "\"  \""},
      {"x=y", "\"x=y\""},
      {"epoch=1-step=2.ckpt", "\"epoch=1-step=2.ckpt\""},
      {"it's", "\"it's\""},
      {"say \"hi\"", "\"say \\\"hi\\\"\""},
      {"\"quoted\"", "\"\\\"quoted\\\"\""},
      {"'q'", "\"'q'\""},
      {"https://e.org/?q=1", "\"https://e.org/?q=1\""},
      {"é", "\"é\""},
      {"李明", "\"李明\""},
      {"#c", "\"#c\""},
      {"~x", "\"~x\""},
      {"a~", "\"a~\""},
      {"<a>", "\"<a>\""},
      {"a!", "\"a!\""},
      {"^", "\"^\""},
      {"a;b", "\"a;b\""},
      {"(", "\"(\""},
      {"a(b", "\"a(b\""},
      {"a)b", "\"a)b\""},
      {"{", "\"{\""},
      {"}", "\"}\""},
      {"[", "\"[\""},
      {"]", "\"]\""},
      {"a:b", "a:b"},
      {"a::b", "a::b"},
      {"$x", "\"$x\""},
      {"${x}", "\"${x}\""},
      {"${oc.env:HOME}", "\"${oc.env:HOME}\""},
      {"a\\b", "\"a\\b\""},
      {"a\\", "\"a\\\\\""},
      {"a\\\\", "\"a\\\\\\\\\""},
      {"\\", "\"\\\\\""},
      {"\\\"", "\"\\\\\\\"\""},
      {"\"", "\"\\\"\""},
      {"a\\\"b", "\"a\\\\\\\"b\""},
      {"C:\\dir\\", "\"C:\\dir\\\\\""},
      {"\\'", "\"\\'\""},
      {"\tt", "\"\tt\""},
      {"a\tb", "\"a\tb\""},
      {"a\nb", "\"a\nb\""},
      {"/data/x", "/data/x"},
      {"./x", "\"./x\""},
      {"../x", "\"../x\""},
      {"-x", "\"-x\""},
      {"--x", "\"--x\""},
      {"-1e-05", "\"-1e-05\""},
      {"a%b", "a%b"},
      {"a@b", "a@b"},
      {"a?b", "a?b"},
      {"a|b", "a|b"},
      {"a*b", "a*b"},
      {"*", "\"*\""},
      {"a+b", "a+b"},
      {"+x", "\"+x\""},
      {"@x", "\"@x\""},
      {"?x", "\"?x\""},
      {"|x", "\"|x\""},
      {"`x`", "\"`x`\""},
      {"a&b", "\"a&b\""},
      {"truex", "truex"},
      {"nullx", "nullx"},
      {"infx", "infx"},
      {"nan-1", "nan-1"},
      {"true-1", "true-1"},
      {"true/1", "true/1"},
      {"a.b.c", "a.b.c"},
      {"1.2.3", "\"1.2.3\""},
      {"1a", "\"1a\""},
      {"2024-01-01", "\"2024-01-01\""},
      {"1:30", "\"1:30\""},
      {"key=", "\"key=\""},
      {"=", "\"=\""},
      {"==", "\"==\""},
      {",", "\",\""},
      {":", "\":\""},
      {"::1", "\"::1\""},
      {"_", "_"},
      {"_x", "_x"},
      {"a-", "a-"},
      {"a/b/c.txt", "a/b/c.txt"},
      {"1e", "\"1e\""},
      {"e5", "e5"},
      {".5", "\".5\""},
      {".", "\".\""},
      {"..", "\"..\""},
      {"...", "\"...\""},
      {"\\(", "\"\\(\""},
      {"\"\"", "\"\\\"\\\"\""},
      {"''", "\"''\""},
      {"\"a", "\"\\\"a\""},
      {"a\"", "\"a\\\"\""},
      {"'a", "\"'a\""},
      {"a'", "\"a'\""},
      {"\\\\\"", "\"\\\\\\\\\\\"\""},
      {"x\\'y", "\"x\\'y\""},
      {"\\\"\\\"", "\"\\\\\\\"\\\\\\\"\""},
      {"${", "\"${\""},
      {"}$", "\"}$\""},
      {"${a}${b}", "\"${a}${b}\""},
      {"a${b}c", "\"a${b}c\""},
      {"$", "\"$\""},
      {"a$b", "\"a$b\""},
      {"func (x)", "\"func (x)\""},
      {"~", "\"~\""},
      {"a,", "\"a,\""},
      {"[a]", "\"[a]\""},
      {"{}", "\"{}\""},
      {"[]", "\"[]\""},
  };
  for (const auto& [text, word] : cases) EXPECT_EQ(Hydra("string {}", Value(text)), word) << text;
}

TEST(HydraFlags, WritesValuesOfAllTypes) {
  EXPECT_EQ(Hydra("float {}", Value(1)), "1.0");
  EXPECT_EQ(Hydra("float {}", Value(1e-5)), "1e-05");
  EXPECT_EQ(Hydra("float {}", Value(1e22)), "1e+22");
  EXPECT_EQ(Hydra("int {}", Value(-3)), "-3");
  EXPECT_EQ(Hydra("bool {}", Value(false)), "false");
  EXPECT_EQ(Hydra("list {}", Value(Value::List{})), "[]");
  EXPECT_EQ(Hydra("list {}", Value(Value::List{Value(1), Value(2.0), Value("a"), Value("5"), Value(""), Value(true),
                                               Value(), Value(Value::List{Value("a,b")}), Value(Value::Map{})})),
            "[1,2.0,a,\"5\",\"\",true,null,[\"a,b\"],{}]");
  EXPECT_EQ(Hydra("map {}", Value(Value::Map{})), "{}");
  EXPECT_EQ(Hydra("map {}", Value(Value::Map{{"a", Value(1)}})), "{a:1}");
  EXPECT_EQ(Hydra("map {}", Value(Value::Map{
                                {"a b", Value("x")}, {"c:d", Value(Value::Map{{"e", Value(1.0)}})}, {"7", Value()}})),
            "{7:null,a\\ b:x,c\\:d:{e:1.0}}");
}

// Keys of maps cannot be quoted in its grammar.
TEST(HydraFlags, RefusesKeysThatItsGrammarCannotWrite) {
  for (const char* key : {"true", "null", "1.5", "1_000", "01", "-inf", "", "é", "a\"b", "it's", "#", "${x}", "a\nb"}) {
    EXPECT_NE(Hydra("map {}", Value(Value::Map{{key, Value(1)}})).find("error flags: muster.flags: s has the key"),
              std::string::npos)
        << key << ": " << Hydra("map {}", Value(Value::Map{{key, Value(1)}}));
  }
  EXPECT_EQ(ProblemsOf("muster.flags({ ['a b'] = 1 }, { style = 'hydra' })"),
            Lines{"recipe.lua:4 error flags: muster.flags: \"a b\" is not a name that Hydra's grammar can write"});
}

TEST(ArgparseFlags, JoinNameAndValueIfTheValueBeginsWithADash) {
  EXPECT_EQ(FlagsOf("string {}", Value("-x"), ""), Lines{"--s=-x"});
  EXPECT_EQ(FlagsOf("string {}", Value("x"), ""), (Lines{"--s", "x"}));
  EXPECT_EQ(FlagsOf("string {}", Value(""), ""), (Lines{"--s", ""}));
  EXPECT_EQ(FlagsOf("float {}", Value(-1e-5), ""), Lines{"--s=-1e-05"});
  EXPECT_EQ(FlagsOf("float {}", Value(1), ""), (Lines{"--s", "1.0"}));
  EXPECT_EQ(FlagsOf("int {}", Value(-5), ""), Lines{"--s=-5"});
  EXPECT_EQ(FlagsOf("list {}", Value(Value::List{}), ""), Lines{"--s"});
  EXPECT_EQ(FlagsOf("list {}", Value(Value::List{Value(1), Value(-2.0)}), ""), (Lines{"--s", "1", "-2.0"}));
  EXPECT_EQ(FlagsOf("list {}", Value(Value::List{Value(-1.5e-7), Value(-2e21), Value(-1.25e22)}), ""),
            (Lines{"--s", "-0.00000015", "-2000000000000000000000.0", "-12500000000000000000000.0"}));
  EXPECT_EQ(FlagsOf("list {}", Value(Value::List{Value("a"), Value("-b")}), "lists = 'repeat'"),
            (Lines{"--s", "a", "--s=-b"}));
  EXPECT_EQ(FlagsOf("list {}", Value(Value::List{}), "lists = 'repeat'"), Lines{});
  EXPECT_NE(FlagsOf("list {}", Value(Value::List{Value("a"), Value("-b")}), "")
                .front()
                .find("error flags: muster.flags: s[2] is \"-b\": argparse takes"),
            std::string::npos);
  EXPECT_EQ(FlagsOf("map {}", Value(Value::Map{{"a", Value(1.0)}}), ""), (Lines{"--s", "{\"a\":1.0}"}));
}

TEST(ArgparseFlags, HaveDashesOnRequest) {
  const std::string fields =
      "params = { log_level = muster.int { 1 }, opt = { weight_decay = muster.float { 0.5 }, go_on = muster.bool { "
      "true } } },";
  EXPECT_EQ(
      CommandOf(PlanOf("job:workers { count = 1, command = { 'x', muster.flags(p, { dashes = true }) } }", fields),
                "worker.0"),
      (Lines{"x", "--log-level", "1", "--opt.go-on", "--opt.weight-decay", "0.5"}));
  for (const char* options :
       {"style = 'hydra', dashes = true", "style = 'hydra', lists = 'repeat'", "dashes = 1", "lists = 'x'"}) {
    EXPECT_EQ(ProblemsOf(std::string("muster.flags(p, { ") + options + " })", fields).size(), 1U) << options;
  }
}

TEST(ArgparseFlags, AreReadBackByArgparse) {
  const Plan plan =
      PlanOf("job:workers { count = 1, command = { 'x', muster.flags(p, { dashes = true }) } }",
             "params = { lr = muster.float { -1e-5 }, whole = muster.float { 1 }, n = muster.int { -5 }, text = "
             "muster.string { '-x' },\n"
             "dashes = muster.string { '--lr' }, blank = muster.string { '' }, two_words = muster.string { '- a b' },\n"
             "sizes = muster.list { { -1, 2 } }, none = muster.list { {} }, rates = muster.list { { -1e-5, -2.5 } },\n"
             "go = muster.bool { true }, stay = muster.bool { false } },");
  std::vector<std::string> argv = {"python3", "-c", R"(
import argparse, json
p = argparse.ArgumentParser()
for name in ("lr", "whole"): p.add_argument("--" + name, type=float)
for name in ("text", "dashes", "blank", "two-words"): p.add_argument("--" + name)
p.add_argument("--n", type=int)
for name in ("sizes", "none"): p.add_argument("--" + name, type=int, nargs="*")
p.add_argument("--rates", type=float, nargs="*")
for name in ("go", "stay"): p.add_argument("--" + name, action="store_true")
print(json.dumps(vars(p.parse_args()), sort_keys=True))
)"};
  const std::vector<std::string> words = CommandOf(plan, "worker.0");
  argv.insert(argv.end(), words.begin() + 1, words.end());
  const CommandResult read = RunCommand({.argv = argv});
  if (read.exit_code == 127) GTEST_SKIP() << "there is no python3";
  EXPECT_EQ(
      read.out,
      R"({"blank": "", "dashes": "--lr", "go": true, "lr": -1e-05, "n": -5, "none": [], "rates": [-1e-05, -2.5], )"
      R"("sizes": [-1, 2], "stay": false, "text": "-x", "two_words": "- a b", "whole": 1.0})"
      "\n")
      << read.err;
}

}  // namespace
}  // namespace muster::testing
