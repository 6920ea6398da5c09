// Tests matches of patterns in a line, and invalid patterns that are refused.
#include "metrics/log_patterns.h"

#include <gtest/gtest.h>

namespace muster {
namespace {

LogPatterns Patterns(const std::map<std::string, std::string>& patterns) {
  auto compiled = LogPatterns::Of(patterns, {});
  EXPECT_TRUE(compiled);
  return *std::move(compiled);
}

TEST(LogPatterns, FindTheValuesOfALine) {
  const LogPatterns patterns = Patterns({{"step", R"(iteration\s+(\d+))"}, {"val_loss", R"(val_loss:\s+(\S+))"}});
  const auto both = patterns.Find("[12:00] iteration 1000 | val_loss: 2.31, lr: 1e-4");
  EXPECT_EQ(both, (std::map<std::string, Value>{{"step", Value(1000)}, {"val_loss", Value(2.31)}}));
  EXPECT_EQ(patterns.Find("iteration 7").size(), 1U);
  EXPECT_TRUE(patterns.Find("nothing to see").empty());
}

TEST(LogPatterns, ParseNumbersInCommonSpellings) {
  const struct {
    const char* text;
    Value value;
  } cases[] = {
      {"3", Value(3)},           {"-3", Value(-3)},       {"+3", Value(3)},    {"2.50", Value(2.5)},
      {".5", Value(0.5)},        {"1e-3", Value(0.001)},  {"1E5", Value(1e5)}, {"2.31,", Value(2.31)},
      {"2.31)", Value(2.31)},    {"12;", Value(12)},      {"nan", Value()},    {"NaN,", Value()},
      {"-inf", Value()},         {"Infinity", Value()},   {"1e999", Value()},  {"1e-999", Value(0.0)},
      {"n/a", Value("n/a")},     {"0x10", Value("0x10")}, {"", Value("")},     {"12 %", Value("12 %")},
      {"1.2.3", Value("1.2.3")},
  };
  for (const auto& test : cases) EXPECT_EQ(ValueWritten(test.text), test.value) << test.text;
}

TEST(LogPatterns, LimitTheLengthOfTexts) {
  const Value value = ValueWritten(std::string(199, 'x') + "\xc3\xa4");
  EXPECT_EQ(value, Value(std::string(199, 'x')));
}

TEST(LogPatterns, RequireExactlyOneGroupAndReportAllMistakes) {
  const auto refused = LogPatterns::Of(
      {{"a", "loss"}, {"b", "(loss): (.*)"}, {"c", "loss: ("}, {"d", "(?:loss|cost): (.*)"}}, {"sweep.lua", 7});
  ASSERT_FALSE(refused);
  ASSERT_EQ(refused.error().size(), 3U);
  for (const Diagnostic& problem : refused.error()) {
    EXPECT_EQ(problem.kind, "pattern");
    EXPECT_EQ(problem.place, (Place{"sweep.lua", 7}));
    EXPECT_FALSE(problem.hint.empty());
  }
  EXPECT_NE(refused.error()[0].message.find("has 0 groups"), std::string::npos);
  EXPECT_NE(refused.error()[1].message.find("has 2 groups"), std::string::npos);
  EXPECT_NE(refused.error()[2].message.find("not a valid regular expression"), std::string::npos);
}

}  // namespace
}  // namespace muster
