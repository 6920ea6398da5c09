#include <algorithm>

#include <gtest/gtest.h>

#include "settings/values/parameter.h"

namespace muster {
namespace {

Parameter Of(ParameterType type) {
  Parameter parameter;
  parameter.name = "p";
  parameter.type = type;
  return parameter;
}

std::vector<std::string> Texts(const std::vector<Value>& values) {
  std::vector<std::string> texts;
  for (const Value& value : values) texts.push_back(ToText(value));
  return texts;
}

TEST(Nudges, BeginWithDoublesAndHalves) {
  Parameter parameter = Of(ParameterType::kInt);
  parameter.min = 1;
  const auto texts = Texts(Nudges(parameter, Value(4)));
  ASSERT_GE(texts.size(), 3);
  EXPECT_EQ(texts[0], "8");
  EXPECT_EQ(texts[1], "2");
  EXPECT_EQ(texts[2], "5");
}

TEST(Nudges, StayWithinTheLimitsOfTheParameter) {
  Parameter parameter = Of(ParameterType::kInt);
  parameter.min = 3;
  parameter.max = 6;
  for (const Value& value : Nudges(parameter, Value(4))) {
    EXPECT_GE(*value.AsInt(), 3);
    EXPECT_LE(*value.AsInt(), 6);
  }
  Parameter above = Of(ParameterType::kFloat);
  above.above = 0;
  above.below = 1;
  const auto nudges = Nudges(above, Value(0.5));
  EXPECT_FALSE(nudges.empty());
  for (const Value& value : nudges) {
    EXPECT_GT(value.Number(), 0);
    EXPECT_LT(value.Number(), 1);
  }
}

TEST(Nudges, NeverRepeatAValueOrGiveTheOneThatIs) {
  for (const std::int64_t number : {-3, 0, 1, 2, 7}) {
    const std::vector<Value> nudges = Nudges(Of(ParameterType::kInt), Value(number));
    EXPECT_FALSE(nudges.empty());
    for (const Value& value : nudges) {
      EXPECT_NE(value, Value(number));
      EXPECT_EQ(std::count(nudges.begin(), nudges.end(), value), 1);
    }
  }
}

TEST(Nudges, TakeTheOtherChoices) {
  Parameter parameter = Of(ParameterType::kEnum);
  parameter.one_of = {Value("adam"), Value("sgd"), Value("lamb")};
  EXPECT_EQ(Texts(Nudges(parameter, Value("sgd"))), (std::vector<std::string>{"\"adam\"", "\"lamb\""}));
  EXPECT_EQ(Texts(Nudges(Of(ParameterType::kBool), Value(true))), std::vector<std::string>{"false"});
}

TEST(Nudges, KnowEveryTypeButSecrets) {
  EXPECT_FALSE(Nudges(Of(ParameterType::kString), Value("x")).empty());
  EXPECT_FALSE(Nudges(Of(ParameterType::kPath), Value("train.py")).empty());
  EXPECT_FALSE(Nudges(Of(ParameterType::kList), Value(Value::List{Value(1), Value(2)})).empty());
  EXPECT_FALSE(Nudges(Of(ParameterType::kMap), Value(Value::Map{{"a", Value(1)}})).empty());
  EXPECT_FALSE(Nudges(Of(ParameterType::kBytes), Value(std::int64_t{1} << 30)).empty());
  EXPECT_FALSE(Nudges(Of(ParameterType::kDuration), Value(90.0)).empty());
  EXPECT_TRUE(Nudges(Of(ParameterType::kSecret), Value("${muster:secret:p}")).empty());
}

TEST(PossibleNumbers, AreAllInARowWhereTheValueIsSmall) {
  Parameter parameter = Of(ParameterType::kInt);
  parameter.min = 1;
  const WholeNumbers numbers = PossibleNumbers(parameter, 8, {});
  EXPECT_EQ(numbers.numbers.size(), 64);
  EXPECT_EQ(numbers.numbers.front(), 1);
  EXPECT_EQ(numbers.numbers.back(), 64);
  EXPECT_EQ(numbers.description, "1-64");
  parameter.max = 10;
  EXPECT_EQ(PossibleNumbers(parameter, 8, {}).description, "1-10");
}

TEST(PossibleNumbers, AreFewAndWellChosenWhereTheValueIsLarge) {
  Parameter parameter = Of(ParameterType::kInt);
  parameter.min = 1;
  const std::int64_t related[] = {12'288};
  const WholeNumbers numbers = PossibleNumbers(parameter, 1'536, related);
  EXPECT_LE(numbers.numbers.size(), 128 + 4);
  EXPECT_TRUE(std::is_sorted(numbers.numbers.begin(), numbers.numbers.end()));
  for (const std::int64_t wanted : {1, 512, 768, 1'535, 1'536, 1'537, 3'072, 4'096}) {
    EXPECT_TRUE(std::binary_search(numbers.numbers.begin(), numbers.numbers.end(), wanted)) << wanted;
  }
}

TEST(PossibleNumbers, AreNeverOutsideWhatTheParameterAllows) {
  Parameter parameter = Of(ParameterType::kInt);
  parameter.above = 0;
  parameter.below = 5;
  EXPECT_EQ(PossibleNumbers(parameter, 2, {}).numbers, (std::vector<std::int64_t>{1, 2, 3, 4}));
  parameter.one_of = {Value(1), Value(4)};
  EXPECT_EQ(PossibleNumbers(parameter, 4, {}).numbers, (std::vector<std::int64_t>{1, 4}));
}

}  // namespace
}  // namespace muster
