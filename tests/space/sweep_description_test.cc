// Tests the description of a sweep as JSON: of each choice the members that it has.
#include "space/sweep_description.h"

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
  EXPECT_EQ(MemberText(sweep, "retry"),
            R"({"max":1,"on":["host_lost"],"patterns":{"oom_host":"killed"},"quarantine_host_after":2})");
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
  sweep.seed_points = {{{"a", Value(1)}}};
  sweep.seed_places = {};
  sweep.where = {"b > 1"};
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

}  // namespace
}  // namespace muster
