// Tests the description of a sweep as JSON: of each choice the members that it has.
#include "space/sweep_description.h"

#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "base/values/value_text.h"

namespace muster {
namespace {

std::string MemberText(const SweepDescription& sweep, const std::string& name) {
  const Value value = SweepDescriptionValue(sweep);
  const auto found = value.AsMap()->find(name);
  return found == value.AsMap()->end() ? "" : JsonText(found->second);
}

TEST(SweepDescription, HasTheMembersOfItsSampler) {
  SweepDescription sweep;
  EXPECT_EQ(MemberText(sweep, "sampler"), R"({"kind":"grid"})");
  EXPECT_EQ(MemberText(sweep, "branches"), R"("weighted")");
  sweep.sampler = {.kind = SamplerChoice::Kind::kSobol, .trials = 8, .seed = 3, .shard = 1, .shards = 2};
  EXPECT_EQ(MemberText(sweep, "sampler"),
            R"({"kind":"sobol","scramble":true,"seed":3,"shard":1,"shards":2,"trials":8})");
  sweep.sampler.weighted = false;
  EXPECT_EQ(MemberText(sweep, "branches"), "");
}

TEST(SweepDescription, HasTheMembersOfEachKindOfSpace) {
  SweepDescription sweep;
  Space choice{.kind = Space::Kind::kAxis, .axis = {.name = "a", .values = {Value(1), Value("x")}}};
  Space range{.kind = Space::Kind::kAxis,
              .axis = {.name = "b", .kind = Axis::Kind::kRange, .low = 1, .high = 3, .step = 0.5}};
  Space when{.kind = Space::Kind::kWhen, .parts = {range}, .condition = {{"a", {Value(1)}}}};
  Space fixed{.kind = Space::Kind::kFixed, .fixed = {{"c", Value(2)}}};
  sweep.space = {.kind = Space::Kind::kUnion, .parts = {choice, when, fixed}, .weights = {1, 2, 3}};
  EXPECT_EQ(MemberText(sweep, "space"),
            R"({"kind":"union","parts":[{"axis":"choice","kind":"axis","name":"a","values":[1,"x"]},)"
            R"({"condition":{"a":[1]},"kind":"when","parts":[)"
            R"({"axis":"range","high":3.0,"kind":"axis","low":1.0,"name":"b","step":0.5}]},)"
            R"({"kind":"fixed","values":{"c":2}}],"weights":[1.0,2.0,3.0]})");
}

TEST(SweepDescription, NamesClassesAndDirections) {
  SweepDescription sweep;
  EXPECT_EQ(MemberText(sweep, "objective"), "");
  EXPECT_EQ(MemberText(sweep, "early_stop"), "");
  sweep.objective = {.metric = "loss", .maximize = true};
  sweep.early_stop = {.kind = EarlyStopChoice::Kind::kMedian, .warmup = 2};
  sweep.retry = {.max = 1, .on = {TrialClass::kHostLost}, .patterns = {{TrialClass::kOomHost, "killed"}}};
  EXPECT_EQ(MemberText(sweep, "objective"), R"({"direction":"maximize","metric":"loss"})");
  EXPECT_EQ(MemberText(sweep, "early_stop"), R"({"kind":"median","min_finished":5,"resource":"step","warmup":2.0})");
  sweep.early_stop = {.kind = EarlyStopChoice::Kind::kAsha, .max = 9, .eta = 3};
  EXPECT_EQ(MemberText(sweep, "early_stop"),
            R"({"eta":3.0,"kind":"asha","max":9.0,"min":1.0,"min_results":0,"resource":"step"})");
  sweep.early_stop = {.kind = EarlyStopChoice::Kind::kHyperband, .max = 9, .eta = 3, .promote = true};
  EXPECT_EQ(MemberText(sweep, "early_stop"),
            R"({"eta":3.0,"kind":"hyperband","max":9.0,"min":1.0,"promote":true,"resource":"step"})");
  EXPECT_EQ(MemberText(sweep, "retry"),
            R"({"max":1,"on":["host_lost"],"patterns":{"oom_host":"killed"},"quarantine_host_after":2})");
}

TEST(SweepDescription, RefusesVerdictsOnRetriesThatThereAreNot) {
  SweepDescription sweep;
  sweep.space = {.kind = Space::Kind::kAxis, .axis = {.name = "a", .values = {1, 2}}};
  sweep.retry.verdict = true;
  ASSERT_EQ(CheckSweep(sweep).size(), 1U);
  EXPECT_EQ(CheckSweep(sweep).front().message, "retry.verdict without retry.max: nothing is retried");
  sweep.retry.max = 3;
  EXPECT_TRUE(CheckSweep(sweep).empty());
}

TEST(SweepDescription, RefusesMoreRungsThanThereCanBe) {
  SweepDescription sweep;
  sweep.space = {.kind = Space::Kind::kAxis, .axis = {.name = "a", .values = {1, 2}}};
  sweep.objective = Objective{"loss"};
  sweep.early_stop = {.kind = EarlyStopChoice::Kind::kAsha, .min = 1, .max = 1e300, .eta = 2};
  ASSERT_EQ(CheckSweep(sweep).size(), 1U);
  EXPECT_EQ(CheckSweep(sweep).front().message,
            "asha: from min 1 to max 1e+300 with eta 2 there are 997 rungs, and there can be at most 64, up to 1e+18");
  sweep.early_stop->min = 1e299;
  EXPECT_EQ(CheckSweep(sweep).size(), 1U) << "no resource is counted so far";
  sweep.early_stop->min = 1e-9;
  sweep.early_stop->max = 1e18;
  EXPECT_EQ(CheckSweep(sweep).size(), 1U);
  sweep.early_stop->min = 1;
  EXPECT_TRUE(CheckSweep(sweep).empty());
}

TEST(SweepDescription, RefusesRungsThatCannotBe) {
  SweepDescription sweep;
  sweep.space = {.kind = Space::Kind::kAxis, .axis = {.name = "a", .values = {1, 2}}};
  sweep.objective = Objective{"loss"};
  const auto problem = [&](EarlyStopChoice stop) {
    sweep.early_stop = stop;
    const Diagnostics problems = CheckSweep(sweep);
    return problems.empty() ? "" : problems.front().message;
  };
  using StopKind = EarlyStopChoice::Kind;
  EXPECT_EQ(problem({.kind = StopKind::kHyperband, .min = 1, .max = 81, .eta = 3, .promote = true}), "");
  EXPECT_EQ(problem({.kind = StopKind::kHyperband, .min = 1, .max = 81, .eta = 1}),
            "hyperband requires 0 < min <= max and eta >= 2, got min 1, max 81 and eta 1");
  EXPECT_EQ(problem({.min = 9, .max = 3}), "asha requires 0 < min <= max and eta >= 2, got min 9, max 3 and eta 4");
  EXPECT_TRUE(problem({.kind = StopKind::kHyperband, .min = 1, .max = 1e9}).starts_with("hyperband: max is more than"));
  EXPECT_TRUE(problem({.min_results = 3, .promote = true}).starts_with("min_results lets the first trials continue"));
}

TEST(SweepDescription, IsReadBack) {
  SweepDescription sweep;
  sweep.name = "s";
  Space choice{.kind = Space::Kind::kAxis, .axis = {.name = "a", .values = {Value(1), Value("x")}}};
  Space range{.kind = Space::Kind::kAxis,
              .axis = {.name = "b", .kind = Axis::Kind::kRange, .low = 1, .high = 3, .step = 1, .whole = true}};
  Space half{.kind = Space::Kind::kAxis,
             .axis = {.name = "h", .kind = Axis::Kind::kRange, .low = 1, .high = 3, .step = 0.5}};
  Space log{.kind = Space::Kind::kAxis, .axis = {.name = "l", .kind = Axis::Kind::kLogUniform, .low = 1, .high = 9}};
  Space when{.kind = Space::Kind::kWhen, .parts = {range}, .condition = {{"a", {Value(1)}}}};
  Space fixed{.kind = Space::Kind::kFixed, .fixed = {{"c", Value(2)}}};
  Space either{.kind = Space::Kind::kUnion, .parts = {log, fixed}, .weights = {1, 2}};
  sweep.space = {.kind = Space::Kind::kProduct, .parts = {choice, half, when, either}};
  sweep.sampler = {.kind = SamplerChoice::Kind::kSobol, .trials = 8, .seed = 3, .scramble = false};
  sweep.sampler.given = {"5e11ab1e0001", {{{"a", Value(1)}, {"h", Value(1.5)}}}, {0.1 + 0.2}};
  sweep.objective = {.metric = "loss", .maximize = true};
  sweep.early_stop = {.kind = EarlyStopChoice::Kind::kMedian, .resource = "epoch", .warmup = 2, .min_finished = 3};
  sweep.retry = {.max = 1, .on = {TrialClass::kHostLost}, .patterns = {{TrialClass::kOomHost, "killed"}}};
  sweep.budget = {.time_ms = 5, .slots = 2};
  sweep.stop_after.failures = 4;
  sweep.constraints = {{.metric = "memory", .bound = 3, .text = "memory <= 3"}};
  sweep.second_objective = {.metric = "latency"};
  sweep.sampler.seeds = SeedsChoice{.param = "seed", .count = 3};
  sweep.seed_points = {{{"a", Value(1)}}};
  sweep.seed_places = {};
  sweep.where = {"b > 1"};
  EXPECT_EQ(JsonText(SweepDescriptionValue(SweepDescriptionFrom(SweepDescriptionValue(sweep)))),
            JsonText(SweepDescriptionValue(sweep)));
  EXPECT_EQ(SweepDescriptionFrom(SweepDescriptionValue(sweep)), sweep);
  sweep.sampler.weighted = false;
  sweep.early_stop = {.min = 2, .max = 9, .eta = 3};
  EXPECT_EQ(SweepDescriptionFrom(SweepDescriptionValue(sweep)), sweep);
  EXPECT_EQ(SweepDescriptionFrom(Value("nothing")).space, Space());
}

TEST(SweepDescription, OfASamplerThatLearnsNeedsAnObjective) {
  SweepDescription sweep;
  sweep.space = {.kind = Space::Kind::kAxis, .axis = {.name = "a", .values = {1, 2}}};
  sweep.sampler = {SamplerChoice::Kind::kTpe, 2};
  const Diagnostics problems = CheckSweep(sweep);
  ASSERT_EQ(problems.size(), 1U);
  EXPECT_EQ(problems.front().message, "tpe learns from results, and the sweep has no objective");
  EXPECT_EQ(problems.front().hint, "objective = muster.minimize \"loss\", or --minimize loss");
  sweep.objective = {.metric = "loss"};
  EXPECT_TRUE(CheckSweep(sweep).empty());
}

TEST(SweepDescription, ReadsConstraintsOnMetrics) {
  const auto memory = ParseConstraint("memory <= 58GiB");
  ASSERT_TRUE(memory);
  EXPECT_EQ(memory->metric, "memory");
  EXPECT_FALSE(memory->at_least);
  EXPECT_EQ(memory->bound, 58.0 * (1U << 30U));
  const auto accuracy = ParseConstraint("val.accuracy>=.5e-1");
  ASSERT_TRUE(accuracy);
  EXPECT_EQ(accuracy->metric, "val.accuracy");
  EXPECT_TRUE(accuracy->at_least);
  EXPECT_EQ(accuracy->bound, 0.05);
  EXPECT_EQ(ParseConstraint("latency <= 20ms")->bound, 0.02);
  SweepDescription sweep;
  EXPECT_EQ(MemberText(sweep, "constraints"), "");
  sweep.constraints = {*memory};
  EXPECT_EQ(MemberText(sweep, "constraints"),
            R"([{"bound":62277025792.0,"comparison":"<=","metric":"memory","text":"memory <= 58GiB"}])");
  EXPECT_EQ(CheckSweep(sweep).front().message,
            "a constraint says which results may be the best, and the sweep has no objective");
}

TEST(SweepDescription, RefusesTextsThatAreNoConstraints) {
  for (const auto& [text, why] :
       {std::pair("memory < 58GiB", "has neither <= nor >="), std::pair("<= 5", "names no metric"),
        std::pair("memory <= lots", "has the bound \"lots\""), std::pair("memory <=", "has the bound \"\""),
        std::pair("memory <= nan", "not a finite number"), std::pair("", "has neither")}) {
    const auto constraint = ParseConstraint(text);
    ASSERT_FALSE(constraint) << text;
    EXPECT_NE(constraint.error().front().message.find(why), std::string::npos) << constraint.error().front().message;
    EXPECT_NE(constraint.error().front().hint.find("memory <= 58GiB"), std::string::npos);
  }
}

TEST(SweepDescription, SaysHowFarMetricsAreBeyondTheirBounds) {
  const std::vector<MetricConstraint> constraints = {*ParseConstraint("memory <= 10"), *ParseConstraint("speed >= 2")};
  EXPECT_EQ(ExcessOf(constraints, {{"memory", Value(10)}, {"speed", Value(2.5)}}), (std::vector<double>{0, -0.5}));
  EXPECT_TRUE(IsFeasible(ExcessOf(constraints, {{"memory", Value(10)}, {"speed", Value(2.5)}})));
  EXPECT_FALSE(IsFeasible(ExcessOf(constraints, {{"memory", Value(10)}, {"speed", Value(1)}})));
  EXPECT_FALSE(IsFeasible(ExcessOf(constraints, {{"memory", Value()}, {"speed", Value(3)}}))) << "a null is no number";
  EXPECT_TRUE(std::isnan(ExcessOf(constraints, {{"speed", Value(3)}}).front())) << "unknown";
}

}  // namespace
}  // namespace muster
