// Tests the sources of one process's variables.
#include <gtest/gtest.h>

#include "plan/environment/environment.h"
#include "plan/sample_plan.h"

namespace muster {
namespace {

TEST(ExplainedEnvironment, NamesLayerAndPlaceOfSetAndRemovedVariables) {
  Plan plan = ParameterServerPlan();
  const Process& process = plan.processes[4];
  ASSERT_EQ(ProcessName(plan, process), "worker.1");
  plan.activation = {{ActivationStep::Kind::kConda, "train"}};
  const auto explained = ExplainEnvironment(plan, process,
                                            {{"MS_SCHED_PORT", {Layer::kContract, {}}},
                                             {"MS_WORKER_NUM", {Layer::kRole, {"a.lua", 7}}},
                                             {"RANK_ID", {Layer::kEach, {"a.lua", 9}}},
                                             {"OMPI_*", {Layer::kContract, {}}},
                                             {"RANK_TABLE_FILE", {Layer::kJob, {"a.lua", 3}}}});
  ASSERT_EQ(explained.size(), 5U);
  EXPECT_EQ(explained[2], (ExplainedVariable{"RANK_ID", Text("1"), {Layer::kEach, {"a.lua", 9}}}));
  EXPECT_EQ(ExplainedEnvironmentText(plan, process, explained),
            R"(environment of worker.1, over what it inherits
  activation        conda train
  contract          MS_SCHED_PORT=${muster:port:scheduler}
  role              MS_WORKER_NUM=4  (a.lua:7)
  each              RANK_ID=1  (a.lua:9)
removed from what it inherits
  contract          OMPI_*
  job:env           RANK_TABLE_FILE  (a.lua:3)
)");
}

TEST(ExplainedEnvironment, DoesNotListAVariableSetAgainAsRemoved) {
  Plan plan = ParameterServerPlan();
  plan.roles[2].unset = {"RANK_ID"};
  for (const ExplainedVariable& variable : ExplainEnvironment(plan, plan.processes[4], {})) {
    EXPECT_TRUE(variable.value) << variable.name;
    EXPECT_EQ(variable.source.layer, Layer::kMuster);
  }
}

}  // namespace
}  // namespace muster
