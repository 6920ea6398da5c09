// Tests folding: values that all processes share are stored once, however the plan was built.
#include <gtest/gtest.h>

#include "plan/plan/roles.h"
#include "plan/sample_plan.h"
#include "plan/text/plan_text.h"

namespace muster {
namespace {

Plan TwoWorkers() {
  Plan plan;
  plan.hosts = {{"host0", 0}};
  plan.roles.resize(1);
  plan.roles[0].name = "worker";
  plan.roles[0].plays = "worker";
  plan.processes.resize(2);
  plan.processes[1].index = 1;
  return plan;
}

TEST(Fold, MovesSharedValuesIntoTheRole) {
  Plan plan = TwoWorkers();
  for (Process& process : plan.processes) {
    process.command = std::vector<Text>{"train"};
    process.cwd = Text("/srv");
    process.env = {{"SAME", "1"}, {"RANK", std::to_string(process.index)}};
    process.context = {{"set_context.mode", 0}, {"set_context.device_id", static_cast<int>(process.index)}};
  }
  Fold(plan);
  EXPECT_EQ(plan.roles[0].command, std::vector<Text>{"train"});
  EXPECT_EQ(plan.roles[0].cwd, Text("/srv"));
  EXPECT_EQ(plan.roles[0].env, (Variables{{"SAME", "1"}}));
  EXPECT_EQ(plan.roles[0].context, (ContextValues{{"set_context.mode", 0}}));
  EXPECT_FALSE(plan.processes[0].command);
  EXPECT_FALSE(plan.processes[1].cwd);
  EXPECT_EQ(plan.processes[1].env, (Variables{{"RANK", "1"}}));
}

TEST(Fold, MovesDifferingValuesIntoTheProcesses) {
  Plan plan = TwoWorkers();
  plan.roles[0].command = {"train"};
  plan.roles[0].env = {{"A", "role"}, {"B", "role"}};
  plan.processes[1].command = std::vector<Text>{"evaluate"};
  plan.processes[1].env = {{"A", "own"}, {"B", "role"}};
  Fold(plan);
  EXPECT_TRUE(plan.roles[0].command.empty());
  EXPECT_EQ(plan.processes[0].command, std::vector<Text>{"train"});
  EXPECT_EQ(plan.roles[0].env, (Variables{{"B", "role"}}));
  EXPECT_EQ(plan.processes[0].env, (Variables{{"A", "role"}}));
  EXPECT_EQ(plan.processes[1].env, (Variables{{"A", "own"}}));
}

TEST(Fold, KeepsAVariableThatOneProcessLacksOutOfTheRole) {
  Plan plan = TwoWorkers();
  plan.processes[0].env = {{"ONLY", "1"}};
  Fold(plan);
  EXPECT_TRUE(plan.roles[0].env.empty());
  EXPECT_EQ(plan.processes[0].env.size(), 1U);
}

TEST(Fold, EmptiesARoleWithoutProcesses) {
  Plan plan = TwoWorkers();
  plan.processes.clear();
  plan.roles[0].command = {"train"};
  plan.roles[0].env = {{"A", "1"}};
  plan.roles[0].unset = {"B"};
  Fold(plan);
  EXPECT_TRUE(plan.roles[0].command.empty() && plan.roles[0].env.empty() && plan.roles[0].unset.empty());
}

TEST(Fold, ChangesNoEffectiveValueOfAProcess) {
  std::mt19937 random(11);
  for (int round = 0; round < 300; ++round) {
    const Plan plan = RandomPlan(random);
    Plan folded = plan;
    Fold(folded);
    ASSERT_EQ(folded.processes.size(), plan.processes.size());
    for (std::size_t i = 0; i < plan.processes.size(); ++i) {
      EXPECT_EQ(EffectiveEnv(folded, folded.processes[i]), EffectiveEnv(plan, plan.processes[i]));
      EXPECT_EQ(EffectiveContext(folded, folded.processes[i]), EffectiveContext(plan, plan.processes[i]));
      EXPECT_EQ(EffectiveCommand(folded, folded.processes[i]), EffectiveCommand(plan, plan.processes[i]));
      EXPECT_EQ(EffectiveCwd(folded, folded.processes[i]), EffectiveCwd(plan, plan.processes[i]));
    }
  }
}

TEST(Fold, IsTheSameHoweverThePlanWasBuilt) {
  std::mt19937 random(12);
  for (int round = 0; round < 300; ++round) {
    Plan plan = RandomPlan(random);
    Plan other = Unfolded(plan, random);
    Fold(plan);
    Fold(other);
    EXPECT_EQ(plan, other);
    EXPECT_EQ(PlanText(plan), PlanText(other));
    Plan again = plan;
    Fold(again);
    EXPECT_EQ(again, plan);
  }
}

}  // namespace
}  // namespace muster
