// Tests evaluating points with few plans: the results equal those of planning every point.
#include <gtest/gtest.h>

#include "lua/evaluated.h"

namespace muster::testing {
namespace {

constexpr const char* kParams =
    "params = { a = muster.int { 1 }, b = muster.int { 1 }, lr = muster.float { 0.1 }, kind = muster.variant { \"x\", "
    "one_of = "
    "{ x = { deep = muster.int { 1 } }, y = {} } } },";

Space Choices(const std::string& name, const Value::List& values) {
  Space axis;
  axis.kind = Space::Kind::kAxis;
  axis.axis.name = name;
  axis.axis.values = values;
  return axis;
}

Value::List Numbers(int count) {
  Value::List numbers;
  for (int i = 1; i <= count; ++i) numbers.emplace_back(i);
  return numbers;
}

struct Judged {
  Evaluated evaluated;
  Judgement judgement;
  Lines reasons;  // such as "3 recipe.lua:4 check: message"
};

Judged Judge(const std::string& body, const std::vector<Space>& axes, const std::vector<std::string>& where = {},
             JudgeRequest asked = {JudgeRequest::What::kTrials, 0, 1'000'000, false}) {
  Request request{Recipe(body + "\njob:workers { count = 1, command = { \"true\" } }", kParams)};
  JudgeTask task;
  task.sweep.space.parts = axes;
  task.sweep.where = where;
  task.request = asked;
  request.task = std::move(task);
  Judged judged{Evaluate(request), {}, {}};
  judged.judgement = judged.evaluated.answer.judgement.value_or(Judgement());
  for (const RefusedPoints& refused : judged.judgement.reasons) {
    judged.reasons.push_back(std::to_string(refused.points) + " " + refused.problem.place.file + ":" +
                             std::to_string(refused.problem.place.line) + " " + refused.problem.kind + ": " +
                             refused.problem.message);
  }
  return judged;
}

TEST(SweepJudge, CountsReasonsByTheirPlaces) {
  const Judged judged = Judge("job:check(p.a < 3, \"a = %d\", p.a)\njob:check(p.b ~= 2, \"b is 2\")",
                              {Choices("a", Numbers(4)), Choices("b", Numbers(3))});
  EXPECT_EQ(judged.evaluated.problems(), Lines{});
  EXPECT_EQ(judged.judgement.points, 12U);
  EXPECT_EQ(judged.judgement.possible, 4U);
  EXPECT_EQ(judged.reasons, (Lines{"2 recipe.lua:5 check: b is 2", "6 recipe.lua:4 check: a = 3"}));
  EXPECT_EQ(PointText(judged.judgement.reasons[1].example), "a=3, b=1");
}

TEST(SweepJudge, PlansOnceForPointsWithTheSameParametersRead) {
  const Judged judged =
      Judge("job:check(p.a < 3, \"too large\")", {Choices("a", Numbers(4)), Choices("lr", {0.5, 0.25, 0.125})});
  EXPECT_EQ(judged.judgement.points, 12U);
  EXPECT_EQ(judged.judgement.planned, 4U);
  EXPECT_EQ(judged.judgement.read, Lines{"a"});
}

TEST(SweepJudge, TracksParametersReadOnlySometimes) {
  const Judged judged =
      Judge("if p.a == 1 then job:check(p.b < 3, \"b\") end", {Choices("a", Numbers(3)), Choices("b", Numbers(4))});
  EXPECT_EQ(judged.judgement.planned, 4U + 2U);
  EXPECT_EQ(judged.judgement.possible, 10U);
  EXPECT_EQ(judged.judgement.read, (Lines{"a", "b"}));
}

TEST(SweepJudge, CountsIterationAsReadingAllParameters) {
  for (const char* body : {"for name, value in pairs(p) do job:check(value ~= 2, \"two\") end",
                           "job:check(#muster.flags(p) > 100 or p.a ~= 2, \"two\")", "job:derive { all = p }"}) {
    const Judged judged = Judge(body, {Choices("a", Numbers(2)), Choices("b", Numbers(2))});
    EXPECT_EQ(judged.judgement.planned, 4U) << body;
  }
}

TEST(SweepJudge, DoesNotCountWritingAParameterToAFileAsReading) {
  const Judged judged = Judge("job:file { \"p.yaml\", yaml = { params = p } }\njob:check(p.a ~= 2, \"two\")",
                              {Choices("a", Numbers(2)), Choices("b", Numbers(50))});
  EXPECT_EQ(judged.judgement.planned, 2U);
  EXPECT_EQ(judged.judgement.possible, 50U);
}

TEST(SweepJudge, AgreesWithOnePlanPerPoint) {
  const std::string body =
      "local x = p.a % 3 == 0 and p.b or p.a\n"
      "if x % 2 == 0 then job:check(p.lr < 0.3, \"lr\") else job:check(p.b < 5, \"b\") end\n"
      "if p.kind.variant == \"x\" then job:check(p.kind.deep < 7, \"deep\") end";
  const std::vector<Space> axes = {Choices("a", Numbers(7)), Choices("b", Numbers(6)), Choices("lr", {0.25, 0.5}),
                                   Choices("kind", {"x", "y"})};
  const Judged memo = Judge(body, axes);
  // Reading all parameters first requires one plan per point.
  const Judged plain = Judge("for _ in pairs(p) do end\n" + body, axes);
  EXPECT_EQ(plain.judgement.planned, 168U);
  EXPECT_LT(memo.judgement.planned, 100U);
  EXPECT_EQ(memo.judgement.possible, plain.judgement.possible);
  ASSERT_EQ(memo.judgement.reasons.size(), plain.judgement.reasons.size());
  for (std::size_t i = 0; i < memo.judgement.reasons.size(); ++i) {
    EXPECT_EQ(memo.judgement.reasons[i].points, plain.judgement.reasons[i].points);
    EXPECT_EQ(memo.judgement.reasons[i].example, plain.judgement.reasons[i].example);
  }
}

TEST(SweepJudge, SupportsVariantsAndTheCluster) {
  const Judged judged = Judge("job:check(job.cluster.devices < 6, \"many\")",
                              {Choices("kind", {"x", "y"}), Choices("kind.deep", {1}), Choices("hosts", Numbers(3)),
                               Choices("devices_per_host", {1, 2})});
  EXPECT_EQ(judged.reasons.size(), 2U);
  EXPECT_EQ(judged.reasons[0], "1 recipe.lua:4 check: many");
  EXPECT_NE(judged.reasons[1].find("6 :0 variant: kind.deep is a parameter of kind = \"x\""), std::string::npos);
  std::uint64_t points = 0;
  for (const PossiblePoints& possible : judged.judgement.footprints) points += possible.points;
  EXPECT_EQ(points, 5U);
}

TEST(SweepJudge, AppliesConditionsOfTheCommandLine) {
  const Judged judged = Judge("job:derive { sum = p.a + p.b }", {Choices("a", Numbers(3)), Choices("b", Numbers(3))},
                              {"sum < 5", "a ~= 1 or math.max(b, 2) == 2"});
  EXPECT_EQ(judged.reasons,
            (Lines{"1 :0 where: a ~= 1 or math.max(b, 2) == 2 does not hold", "3 :0 where: sum < 5 does not hold"}));
  const Lines unknown = Judge("", {Choices("a", Numbers(3))}, {"summ < 5"}).evaluated.problems();
  EXPECT_EQ(unknown, Lines{"error usage: --where \"summ < 5\": summ is neither a parameter nor derived by the recipe"});
  EXPECT_EQ(Judge("", {Choices("a", Numbers(3))}, {"a"}).evaluated.problems(),
            Lines{"error usage: --where \"a\" is 1, and a condition is true or false"});
}

TEST(SweepJudge, ListsTheTrialsOfEachVerdict) {
  const Judged judged = Judge("job:check(p.a ~= 3, \"three\")", {Choices("a", Numbers(5))}, {},
                              {JudgeRequest::What::kTrials, 1, 10, true});
  EXPECT_EQ(judged.judgement.total, 5U);
  EXPECT_EQ(judged.judgement.points, 4U);
  EXPECT_EQ(judged.judgement.reasons.at(0).ranges, (std::vector<PointNumbers>{{2, 1}}));
  EXPECT_EQ(judged.judgement.footprints.at(0).ranges, (std::vector<PointNumbers>{{1, 1}, {3, 2}}));
}

TEST(SweepJudge, ContinuesAfterAPointThatExceededItsLimits) {
  const Judged judged = Judge("if p.a == 2 then while true do end end", {Choices("a", Numbers(3))});
  EXPECT_EQ(judged.judgement.points, 2U);  // the interpreter is unusable: the next batch begins at the third point
  ASSERT_EQ(judged.judgement.reasons.size(), 1U);
  EXPECT_EQ(judged.judgement.reasons[0].problem.kind, "limit");
}

}  // namespace
}  // namespace muster::testing
