// Tests parsing of the canonical text, and comparing plans by their texts alone.
#include <random>

#include <gtest/gtest.h>

#include "plan/plan/roles.h"
#include "plan/sample_plan.h"
#include "plan/text/plan_diff.h"
#include "plan/text/plan_text.h"

namespace muster {
namespace {

std::vector<PlanChange> DiffOfTexts(const std::string& a, const std::string& b) {
  const auto read_a = ReadPlanText(a);
  const auto read_b = ReadPlanText(b);
  EXPECT_TRUE(read_a && read_b);
  if (!read_a || !read_b) return {};
  return DiffPlans(read_a->plan, read_a->rest, read_b->plan, read_b->rest);
}

std::map<std::string, std::string> Spelled(const ContextValues& values) {
  std::map<std::string, std::string> spelled;
  // A list is read as its text.
  for (const auto& [name, value] : values) {
    const std::string* text = value.AsString();
    spelled[name] = text != nullptr && text->starts_with("{") ? *text : ToText(value);
  }
  return spelled;
}

TEST(PlanTextRead, ReadsTheInputsOfProcessesOfAnyPlan) {
  std::mt19937 random(20261122);
  for (int i = 0; i < 200; ++i) {
    Plan plan = RandomPlan(random);
    Fold(plan);
    const std::string text = PlanText(plan);
    const auto read = ReadPlanText(text);
    ASSERT_TRUE(read) << text;
    EXPECT_EQ(read->plan.name, plan.name);
    EXPECT_EQ(read->plan.files, plan.files) << text;
    ASSERT_EQ(read->plan.processes.size(), plan.processes.size());
    for (std::size_t p = 0; p < plan.processes.size(); ++p) {
      const Process& process = plan.processes[p];
      const Process& again = read->plan.processes[p];
      ASSERT_EQ(ProcessName(read->plan, again), ProcessName(plan, process));
      EXPECT_EQ(again.host, process.host);
      EXPECT_EQ(again.rank, process.rank);
      EXPECT_EQ(again.devices, process.devices);
      EXPECT_EQ(again.stage, process.stage);
      EXPECT_EQ(EffectiveCommand(read->plan, again), EffectiveCommand(plan, process)) << text;
      EXPECT_EQ(EffectiveCwd(read->plan, again), EffectiveCwd(plan, process)) << text;
      EXPECT_EQ(EffectiveEnv(read->plan, again), EffectiveEnv(plan, process)) << text;
      EXPECT_EQ(Spelled(EffectiveContext(read->plan, again)), Spelled(EffectiveContext(plan, process))) << text;
    }
  }
}

TEST(PlanTextRead, FindsNoDifferenceBetweenATextAndItself) {
  std::mt19937 random(7);
  for (int i = 0; i < 50; ++i) {
    Plan plan = RandomPlan(random);
    Fold(plan);
    const std::string text = PlanText(plan) + PlanNotesText(plan);
    EXPECT_EQ(DiffOfTexts(text, text), std::vector<PlanChange>());
  }
}

TEST(PlanTextRead, FindsTheDifferenceOfThePlans) {
  const Plan before = ParameterServerPlan();
  Plan after = before;
  after.roles[2].command.back() = "30";
  after.roles[2].stop.grace_ms = 5'000;
  after.roles[0].env["MS_WORKER_NUM"] = "5";
  after.processes[4].env["RANK_ID"] = "7";
  after.derived["layers per \"stage\""] = Value(std::int64_t{4});
  const auto reported = DiffOfTexts(PlanText(before) + PlanNotesText(before), PlanText(after) + PlanNotesText(after));
  EXPECT_EQ(reported, DiffPlans(before, after));
  EXPECT_EQ(reported.size(), 5U);
}

TEST(PlanTextRead, CountsProcessesIfSomeAreOmitted) {
  const std::string begin = "plan name x\nhost host0 devices 0\nrole w count ";
  const std::string end = "process w.0 host host0 rank 0 of 8 local 0 of 8\n";
  const auto reported = DiffOfTexts(begin + "8\n" + end, begin + "16\n" + end);
  ASSERT_EQ(reported.size(), 1U);
  EXPECT_EQ(reported[0].name, "count");
  EXPECT_EQ(reported[0].texts[0].before, "8");
  EXPECT_EQ(reported[0].texts[0].after, "16");
}

TEST(PlanTextRead, RefusesAnythingButAPlan) {
  for (const char* text :
       {"", "hello\n", "plan name x\nprocess w.0 host host0 local 0 of 1\n", "plan name x\nrole w command \"a\n",
        "plan name x\nhost h devices many\n", "plan name x\nhost h devices 1\nrole w count 1\nprocess w.0 env A=b\n",
        "plan name x\nhost h devices 1\nrole w count 1\nprocess w.0 host g local 0 of 1\n"}) {
    EXPECT_FALSE(ReadPlanText(text)) << text;
  }
}

}  // namespace
}  // namespace muster
