// Tests what an optimizer outside of muster hears, and which of its answers are refused.
#include "sweep/head/optimizer_pipe.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "base/values/value_json.h"

namespace muster {
namespace {

Space AxisOf(Axis axis) {
  Space space;
  space.kind = Space::Kind::kAxis;
  space.axis = std::move(axis);
  return space;
}

// lr in log_uniform(0.001, 1), n in {1, 2, 4}, mode "fast".
Space Described() {
  Space fixed;
  fixed.kind = Space::Kind::kFixed;
  fixed.fixed = {{"mode", Value("fast")}};
  Space space;
  space.parts = {AxisOf({.name = "lr", .kind = Axis::Kind::kLogUniform, .low = 0.001, .high = 1}),
                 AxisOf({.name = "n", .values = {Value(1), Value(2), Value(4)}}), fixed};
  return space;
}

TEST(OptimizerAnswer, HasPointsWithTheValuesOfTheSpace) {
  const Space described = Described();
  const auto space = CompiledSpace::Of(described);
  const auto points = ReadOptimizerAnswer(
      R"({"points": [{"lr": 0.12345678, "n": 4}, {"lr": 1, "n": 2.0, "mode": "fast"}]})", 2, described, *space);
  ASSERT_TRUE(points) << points.error();
  ASSERT_EQ(points->size(), 2U);
  EXPECT_EQ(points->front(), (Point{{"lr", Value(0.12345678)}, {"mode", Value("fast")}, {"n", Value(4)}}));
  EXPECT_EQ(points->back(), (Point{{"lr", Value(1.0)}, {"mode", Value("fast")}, {"n", Value(2)}}));
  EXPECT_TRUE(ReadOptimizerAnswer(R"({"points": []})", 2, described, *space)->empty());
}

TEST(OptimizerAnswer, HasTheNearestStepOfARangeAndWholeNumbers) {
  Space described;
  described.parts = {AxisOf({.name = "drop", .kind = Axis::Kind::kRange, .low = 0, .high = 1, .step = 0.1}),
                     AxisOf({.name = "width", .kind = Axis::Kind::kIntLogUniform, .low = 1, .high = 512})};
  const auto space = CompiledSpace::Of(described);
  ASSERT_TRUE(space);
  const auto read = [&](const std::string& point) {
    return ReadOptimizerAnswer("{\"points\": [" + point + "]}", 1, described, *space);
  };
  const auto near = read(R"({"drop": 0.30000000000000004, "width": 7.0})");
  ASSERT_TRUE(near) << near.error();
  EXPECT_EQ(near->front(), (Point{{"drop", Value(0.3)}, {"width", Value(7)}}));
  EXPECT_EQ(read(R"({"drop": 1, "width": 512})")->front(), (Point{{"drop", Value(1.0)}, {"width", Value(512)}}));
  for (const char* point :
       {R"({"drop": 0.31, "width": 7})", R"({"drop": 0.3, "width": 7.5})", R"({"drop": 0.3, "width": 513})",
        R"({"drop": -0.1, "width": 1})", R"({"drop": 1e300, "width": 1})"}) {
    EXPECT_FALSE(read(point)) << point;
  }
}

TEST(OptimizerAnswer, IsRefusedWithWhatItSaid) {
  const Space described = Described();
  const auto space = CompiledSpace::Of(described);
  const struct {
    const char* line;
    const char* why;
  } cases[] = {{"Traceback", "not valid JSON"},
               {"", "not valid JSON"},
               {"[]", "an answer is"},
               {R"({"point": []})", "an answer is"},
               {R"({"points": {}})", "an answer is"},
               {R"({"points": [], "more": 1})", "an answer is"},
               {R"({"points": [1]})", "a point is an object"},
               {R"({"points": [{"lr": 0.1, "n": 1}, {"lr": 0.2, "n": 1}, {"lr": 0.3, "n": 1}]})", "3 points"},
               {R"({"points": [{"lr": 0.1}]})", "no value of n"},
               {R"({"points": [{"lr": 0.1, "n": 1, "x": 1}]})", "x is not swept"},
               {R"({"points": [{"lr": 2, "n": 1}]})", "has no point"},
               {R"({"points": [{"lr": "0.1", "n": 1}]})", "has no point"},
               {R"({"points": [{"lr": 0.1, "n": 3}]})", "has no point"},
               {R"({"points": [{"lr": 0.1, "n": 1, "mode": "slow"}]})", "has no point"}};
  for (const auto& test : cases) {
    const auto points = ReadOptimizerAnswer(test.line, 2, described, *space);
    ASSERT_FALSE(points) << test.line;
    EXPECT_NE(points.error().find(test.why), std::string::npos) << points.error();
  }
  const auto wide = ReadOptimizerAnswer(std::string(100'000, '\x1b'), 2, described, *space);
  ASSERT_FALSE(wide);
  EXPECT_LT(wide.error().size(), 2000U);
  EXPECT_EQ(wide.error().find('\x1b'), std::string::npos);
}

TEST(OptimizerLines, ReportSpaceResultsAndImpossiblePoints) {
  SweepDescription sweep;
  sweep.name = "s";
  sweep.space = Described();
  sweep.sampler.kind = SamplerChoice::Kind::kPipe;
  sweep.sampler.command = {"x"};
  sweep.objective = Objective{"accuracy", true, {}};
  const auto begin = ValueFromJsonText(OptimizerLines::Begin(sweep, "abc", 5));
  ASSERT_TRUE(begin);
  EXPECT_EQ(*FieldOf(*begin, "direction"), Value("maximize"));
  EXPECT_EQ(FieldOf(*begin, "axes")->AsList()->size(), 2U);
  EXPECT_EQ(*FieldOf(*begin, "fixed"), Value(Value::Map{{"mode", Value("fast")}}));
  EXPECT_EQ(*FieldOf(*begin, "trials"), Value(5));

  OptimizerLines lines(sweep);
  PointsJudged judged{0, 2, {{"too large", "r.lua:3", {{1, 1}}}}};
  judged.points = {{{"n", Value(1)}}, {{"n", Value(2)}}};
  EXPECT_EQ(lines.Take(judged),
            "{\"event\":\"result\",\"format\":1,\"point\":{\"n\":2},\"state\":\"impossible\",\"trial\":1}\n");
  AttemptEnded ended;
  ended.loss = -0.75;
  ended.again = true;
  EXPECT_EQ(lines.Take(ended), "") << "another attempt follows";
  ended.again = false;
  EXPECT_EQ(lines.Take(ended),
            "{\"class\":\"ok\",\"event\":\"result\",\"format\":1,\"point\":{\"n\":1},\"state\":\"complete\","
            "\"trial\":0,\"value\":0.75}\n");
  ended.trial_class = TrialClass::kStopped;
  EXPECT_NE(lines.Take(ended).find("\"state\":\"pruned\""), std::string::npos);
  ended.trial_class = TrialClass::kOomDevice;
  EXPECT_EQ(lines.Take(ended),
            "{\"class\":\"oom_device\",\"event\":\"result\",\"format\":1,\"point\":{\"n\":1},\"state\":\"failed\","
            "\"trial\":0}\n");
}

TEST(OptimizerLines, ReportHowFarAResultIsBeyondTheConstraints) {
  SweepDescription sweep;
  sweep.space = Described();
  sweep.objective = Objective{"accuracy", true, {}};
  sweep.constraints = {*ParseConstraint("memory <= 10"), *ParseConstraint("speed >= 1")};
  const auto begin = ValueFromJsonText(OptimizerLines::Begin(sweep, "abc", 5));
  EXPECT_EQ(FieldOf(*begin, "constraints")->AsList()->size(), 2U);
  OptimizerLines lines(sweep);
  PointsJudged judged{0, 1, {}};
  judged.points = {{{"n", Value(1)}}};
  lines.Take(judged);
  AttemptEnded ended;
  ended.loss = -0.75;
  ended.trial_class = TrialClass::kInfeasible;
  ended.metrics = {{"memory", Value(12)}, {"speed", Value(3)}};
  EXPECT_EQ(lines.Take(ended),
            "{\"class\":\"infeasible\",\"event\":\"result\",\"excess\":[2.0,-2.0],\"format\":1,\"point\":{\"n\":1},"
            "\"state\":\"complete\",\"trial\":0,\"value\":0.75}\n");
}

TEST(OptimizerLines, ReportTheSecondObjective) {
  SweepDescription sweep;
  sweep.space = Described();
  sweep.objective = Objective{"loss", false, {}};
  sweep.second_objective = Objective{"speed", true, {}};
  const auto begin = ValueFromJsonText(OptimizerLines::Begin(sweep, "abc", 5));
  EXPECT_EQ(*FieldOf(*begin, "second_metric"), Value("speed"));
  EXPECT_EQ(*FieldOf(*begin, "second_direction"), Value("maximize"));
  OptimizerLines lines(sweep);
  PointsJudged judged{0, 1, {}};
  judged.points = {{{"n", Value(1)}}};
  lines.Take(judged);
  AttemptEnded ended;
  ended.loss = 0.5;
  ended.metrics = {{"loss", Value(0.5)}, {"speed", Value(3)}};
  EXPECT_EQ(lines.Take(ended),
            "{\"class\":\"ok\",\"event\":\"result\",\"format\":1,\"point\":{\"n\":1},\"second_value\":3.0,"
            "\"state\":\"complete\",\"trial\":0,\"value\":0.5}\n");
}

}  // namespace
}  // namespace muster
