// Tests parameters alone: declarations, texts, values, limits and messages.
#include "settings/values/parameter.h"

#include <limits>

#include <gtest/gtest.h>

namespace muster {
namespace {

const Place kPlace{"recipe.lua", 7};

Value Fields(std::string_view type, Value::Map more = {}) {
  more["type"] = Value(type);
  return Value(std::move(more));
}
Parameter Declared(std::string_view type, Value::Map more = {}) {
  auto parameter = ParameterFromValue("x", Fields(type, std::move(more)), kPlace);
  EXPECT_TRUE(parameter) << (parameter ? "" : parameter.error().front().message);
  return parameter.value_or(Parameter{});
}
// The settled value, or the message.
std::string Checked(const Parameter& parameter, const Value& value) {
  const auto checked = CheckParameter(parameter, value, kPlace, "default");
  return checked ? ToText(*checked) : checked.error().front().message;
}
std::string Read(const Parameter& parameter, std::string_view text) {
  const auto read = ReadParameterText(parameter, text, "command line");
  if (!read) return read.error().front().message;
  const auto checked = CheckParameter(parameter, *read, {}, "command line");
  return checked ? ToText(*checked) : checked.error().front().message;
}

TEST(ParameterTypes, HaveTheirNames) {
  for (const char* name :
       {"int", "float", "bool", "string", "enum", "path", "list", "map", "bytes", "duration", "secret"}) {
    ASSERT_TRUE(ParameterTypeOf(name)) << name;
    EXPECT_EQ(ParameterTypeName(*ParameterTypeOf(name)), name);
  }
  EXPECT_FALSE(ParameterTypeOf("number"));
  EXPECT_FALSE(ParameterTypeOf(""));
}

TEST(ParameterValues, SettleInTheFormOfTheirType) {
  EXPECT_EQ(Checked(Declared("int"), Value(3.0)), "3");
  EXPECT_EQ(CheckParameter(Declared("float"), Value(3), kPlace, "default"), Value(3.0));
  EXPECT_EQ(Checked(Declared("bytes"), Value("1KiB")), "1024");
  EXPECT_EQ(Checked(Declared("bytes"), Value(7)), "7");
  EXPECT_EQ(Checked(Declared("duration"), Value("1m")), "60");
  EXPECT_EQ(Checked(Declared("duration"), Value(0.5)), "0.5");
  EXPECT_EQ(Checked(Declared("list"), Value(Value::Map{})), "{}");
  EXPECT_EQ(CheckParameter(Declared("list"), Value(Value::Map{}), kPlace, "default"), Value(Value::List{}));
  EXPECT_EQ(CheckParameter(Declared("map"), Value(Value::List{}), kPlace, "default"), Value(Value::Map{}));
}

TEST(ParameterValues, OfAnotherTypeAreRefused) {
  const Value values[] = {Value(),
                          Value(true),
                          Value(1),
                          Value(0.5),
                          Value("x"),
                          Value(Value::List{Value(1)}),
                          Value(Value::Map{{"a", Value(1)}})};
  const std::pair<const char*, std::string> accepted[] = {
      {"int", "..i...."},  {"float", "..if..."}, {"bool", ".b....."},  {"string", "....s.."},   {"path", "....s.."},
      {"list", ".....l."}, {"map", "......m"},   {"bytes", "..i...."}, {"duration", "..if..."}, {"secret", "......."}};
  for (const auto& [type, which] : accepted) {
    const Parameter parameter = Declared(type);
    for (std::size_t i = 0; i < std::size(values); ++i) {
      EXPECT_EQ(CheckParameter(parameter, values[i], kPlace, "default").has_value(), which[i] != '.')
          << type << " " << ToText(values[i]);
    }
  }
}

TEST(ParameterValues, AreHeldToTheirLimits) {
  const Parameter closed = Declared("int", {{"min", Value(1)}, {"max", Value(3)}});
  for (const auto& [value, fits] : {std::pair(0, false), {1, true}, {3, true}, {4, false}})
    EXPECT_EQ(CheckParameter(closed, Value(value), kPlace, "").has_value(), fits) << value;
  const Parameter open = Declared("float", {{"above", Value(0)}, {"below", Value(1)}});
  for (const auto& [value, fits] : {std::pair(0.0, false), {1e-300, true}, {0.999, true}, {1.0, false}})
    EXPECT_EQ(CheckParameter(open, Value(value), kPlace, "").has_value(), fits) << value;
  const Parameter bytes = Declared("bytes", {{"min", Value("1KiB")}});
  EXPECT_EQ(Checked(bytes, Value("1023B")), "parameter x = \"1023B\" is out of range");
  EXPECT_FALSE(CheckParameter(Declared("float"), Value(std::numeric_limits<double>::infinity()), kPlace, ""));
  EXPECT_FALSE(CheckParameter(Declared("float"), Value(std::numeric_limits<double>::quiet_NaN()), kPlace, ""));
}

TEST(ParameterValues, AreNumbersThatLuaHoldsExactly) {
  constexpr std::int64_t kLast = std::int64_t{1} << 53;
  for (const char* type : {"int", "float", "bytes"}) {
    EXPECT_TRUE(CheckParameter(Declared(type), Value(kLast), kPlace, "")) << type;
    EXPECT_FALSE(CheckParameter(Declared(type), Value(kLast + 1), kPlace, "")) << type;
  }
  EXPECT_FALSE(CheckParameter(Declared("int"), Value(-kLast - 1), kPlace, ""));
  EXPECT_FALSE(CheckParameter(Declared("int"), Value(1e300), kPlace, ""));
  EXPECT_FALSE(
      CheckParameter(Declared("list"), Value(Value::List{Value(Value::Map{{"a", Value(kLast + 1)}})}), kPlace, ""));
  EXPECT_FALSE(CheckParameter(Declared("bytes"), Value("9000PB"), kPlace, "")) << "above 2^53";
}

TEST(ParameterValues, AreTextsThatAProcessCanReceive) {
  EXPECT_FALSE(CheckParameter(Declared("string"), Value("\xff"), kPlace, ""));
  EXPECT_FALSE(CheckParameter(Declared("string"), Value(std::string("a\0b", 3)), kPlace, ""));
  EXPECT_FALSE(CheckParameter(Declared("map"), Value(Value::Map{{"\xff", Value(1)}}), kPlace, ""));
  EXPECT_FALSE(CheckParameter(Declared("list"), Value(Value::List{Value("\xff")}), kPlace, ""));
  EXPECT_TRUE(CheckParameter(Declared("string"), Value("ä\n\t"), kPlace, ""));
}

TEST(ParameterTexts, AreReadAsTheTypeSays) {
  EXPECT_EQ(Read(Declared("int"), "-12"), "-12");
  EXPECT_EQ(Read(Declared("int"), "+12"), "12");
  EXPECT_EQ(Read(Declared("float"), "+1e-3"), "0.001");
  EXPECT_EQ(Read(Declared("float"), "5"), "5");
  EXPECT_EQ(Read(Declared("bool"), "true"), "true");
  EXPECT_EQ(Read(Declared("string"), ""), "\"\"");
  EXPECT_EQ(Read(Declared("bytes"), "30GiB"), "32212254720");
  EXPECT_EQ(Read(Declared("duration"), "1d12h"), "129600");
  EXPECT_EQ(Read(Declared("list"), "[1, \"a\"]"), "{1, \"a\"}");
  EXPECT_EQ(Read(Declared("map"), "{\"a\": 1}"), "{a = 1}");
  EXPECT_EQ(Read(Declared("enum", {{"one_of", Value(Value::List{Value("a"), Value(2), Value(true)})}}), "2"), "2");
  EXPECT_EQ(Read(Declared("enum", {{"one_of", Value(Value::List{Value("a"), Value(2), Value(true)})}}), "true"),
            "true");
  EXPECT_EQ(Read(Declared("int", {{"one_of", Value(Value::List{Value(1), Value(2)})}}), "2"), "2");
}

TEST(ParameterTexts, ThatAreNoneOfTheTypeReportWhatIsExpected) {
  for (const char* text :
       {"", "+", "-", "1.0", "1e3", " 1", "1 ", "0x1", "++1", "+-1", "1,000", "eins", "9223372036854775808"}) {
    EXPECT_EQ(Read(Declared("int"), text),
              "parameter x must be an int, got \"" + std::string(text) + "\" (from the command line)");
  }
  for (const char* text : {"", "nan", "inf", "-inf", "1e999", "1,5", "0x1p3", "1.5.5", "+"}) {
    EXPECT_EQ(Read(Declared("float"), text),
              "parameter x must be a float, got \"" + std::string(text) + "\" (from the command line)");
  }
  for (const char* text : {"", "1", "0", "yes", "TRUE", "True"}) {
    EXPECT_EQ(Read(Declared("bool"), text),
              "parameter x must be true or false, got \"" + std::string(text) + "\" (from the command line)");
  }
  EXPECT_EQ(Read(Declared("bytes"), "-1"),
            "parameter x must be a size such as \"30GiB\" or \"3.5GB\", got string \"-1\" (from the command line)");
  EXPECT_EQ(Read(Declared("duration"), "1x"),
            "parameter x must be a duration such as \"90s\", \"12h\" or \"1d12h\", got string \"1x\" (from the command "
            "line)");
  EXPECT_EQ(Read(Declared("list"), "[1"),
            "parameter x must be a list in JSON, got \"[1\": not valid JSON at byte 3 (from the command line)");
}

TEST(ParameterTexts, NeverHoldSecrets) {
  const auto refused = ReadParameterText(Declared("secret", {{"from_env", Value("TOKEN")}}), "hunter2", "command line");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().front().kind, "secret_literal");
  EXPECT_EQ(refused.error().front().message.find("hunter2"), std::string::npos);
  EXPECT_NE(refused.error().front().hint.find("x@=FILE or set TOKEN"), std::string::npos);
}

TEST(ParameterChoices, AreComparedInSettledForm) {
  const Value sizes(Value::List{Value("1GiB"), Value("2GiB")});
  EXPECT_EQ(Read(Declared("bytes", {{"one_of", sizes}}), "1024MiB"), "1073741824");
  EXPECT_EQ(Checked(Declared("float", {{"one_of", Value(Value::List{Value(1), Value(2)})}}), Value(2)), "2");
  EXPECT_EQ(Checked(Declared("duration", {{"one_of", Value(Value::List{Value("1m")})}}), Value(60)), "60");
  EXPECT_EQ(Checked(Declared("int", {{"one_of", Value(Value::List{Value(1), Value(2)})}}), Value(3)),
            "parameter x must be one of 1, 2, got 3");
}

TEST(ParameterChoices, SuggestTheNearest) {
  const Parameter parameter =
      Declared("enum", {{"one_of", Value(Value::List{Value("adam"), Value("sgd")})}, {"doc", Value("the optimizer")}});
  const auto wrong = ReadParameterText(parameter, "adma", "command line");
  ASSERT_FALSE(wrong);
  EXPECT_EQ(wrong.error().front().hint, "did you mean \"adam\"?: the optimizer");
}

TEST(ParameterDeclarations, SayWhatIsWrongWithThem) {
  const struct {
    const char* type;
    Value::Map fields;
    const char* message;
  } cases[] = {
      {"number", {}, "unknown type \"number\""},
      {"int", {{"minimum", Value(1)}}, "unknown option \"minimum\""},
      {"int", {{"1", Value(1)}, {"default", Value(2)}}, "has two defaults"},
      {"int", {{"2", Value(1)}}, "its declaration has several values without a name"},
      {"int", {{"doc", Value(1)}}, "doc must be a string, got 1"},
      {"string", {{"min", Value(1)}}, "min needs a number type, not string"},
      {"int", {{"min", Value("x")}}, "min must be a number, got \"x\""},
      {"bytes", {{"max", Value("1 GB")}}, "max must be a number, got \"1 GB\""},
      {"int", {{"one_of", Value(1)}}, "one_of must be a list of values"},
      {"int", {{"one_of", Value(Value::List{})}}, "one_of must be a list of values"},
      {"int", {{"one_of", Value(Value::List{Value("x")})}}, "one_of has \"x\", which is no int"},
      {"enum", {}, "an enum needs one_of = { … }"},
      {"secret", {{"1", Value("x")}}, "a secret has no default"},
      {"int", {{"min", Value(3)}, {"max", Value(2)}}, "no value is allowed: int >= 3, <= 2"},
      {"int", {{"doc", Value("\xff")}}, "doc is not valid UTF-8, or holds a NUL byte"},
  };
  for (const auto& test : cases) {
    const auto parameter = ParameterFromValue("x", Fields(test.type, test.fields), kPlace);
    ASSERT_FALSE(parameter) << test.message;
    EXPECT_EQ(parameter.error().front().kind, "parameter");
    EXPECT_EQ(parameter.error().front().message, std::string("parameter x: ") + test.message);
    EXPECT_EQ(parameter.error().front().place, kPlace);
  }
  EXPECT_FALSE(ParameterFromValue("x", Value(1), kPlace));
}

TEST(ParameterDeclarations, AreShownShortly) {
  EXPECT_EQ(ParameterRangeText(Declared("int", {{"min", Value(1)}, {"max", Value(1'000'000)}})),
            "int >= 1, <= 1000000");
  EXPECT_EQ(ParameterRangeText(Declared("float", {{"above", Value(0)}, {"below", Value(0.5)}})), "float > 0, < 0.5");
  EXPECT_EQ(ParameterRangeText(Declared("bytes", {{"min", Value("1GiB")}, {"max", Value("1500MiB")}})),
            "bytes >= 1GiB, <= 1500MiB");
  EXPECT_EQ(ParameterRangeText(Declared("bytes", {{"min", Value(0)}, {"max", Value(1000)}})), "bytes >= 0, <= 1000B");
  EXPECT_EQ(ParameterRangeText(Declared("duration", {{"min", Value("90s")}, {"max", Value("2d")}})),
            "duration >= 90s, <= 2d");
  EXPECT_EQ(ParameterRangeText(Declared("enum", {{"one_of", Value(Value::List{Value("a"), Value(1)})}})),
            "one of \"a\", 1");
  EXPECT_EQ(ParameterRangeText(Declared("string")), "string");
}

TEST(ParameterDeclarations, PointToThemselvesWhenAValueFromElsewhereIsWrong) {
  const auto wrong = CheckParameter(Declared("int"), Value("x"), {}, "command line");
  ASSERT_FALSE(wrong);
  EXPECT_EQ(wrong.error().front().notes, (std::vector<Note>{{"declared here", kPlace}}));
  EXPECT_TRUE(CheckParameter(Declared("int"), Value("x"), kPlace, "default").error().front().notes.empty());
}

}  // namespace
}  // namespace muster
