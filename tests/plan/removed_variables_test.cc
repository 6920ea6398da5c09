// Tests warnings about variables of the caller that a contract removes.
#include <gtest/gtest.h>

#include "plan/environment/inherited_environment.h"

namespace muster {
namespace {

const VariableSource kContract{Layer::kContract, {}};
const VariableSource kRecipe{Layer::kRole, {}};

TEST(RemovedVariables, AreReportedIfTheUserSetThem) {
  Plan plan;
  plan.roles.resize(2);
  plan.roles[0].name = "server";
  plan.roles[0].unset = {"DMLC_ROLE", "PORT"};
  plan.roles[1].name = "worker";
  plan.roles[1].unset = {"DMLC_ROLE", "MINE", "TRACKER_*"};
  const std::map<std::string, std::map<std::string, VariableSource>> provenance = {
      {"server", {{"DMLC_ROLE", kContract}, {"PORT", kContract}}},
      {"worker", {{"DMLC_ROLE", kContract}, {"MINE", kRecipe}, {"TRACKER_*", kContract}}}};
  EXPECT_EQ(
      RemovedByContract(plan, provenance, {"PATH=/bin", "DMLC_ROLE=worker", "MINE=1", "TRACKER_URI=x", "TRACK=1"}),
      (std::vector<std::string>{"DMLC_ROLE", "TRACKER_URI"}))
      << "each once, and not what the recipe itself removes";
  EXPECT_EQ(RemovedByContract(plan, provenance, {"PATH=/bin"}), std::vector<std::string>());
}

TEST(RemovedVariables, OfAnotherLauncherAreNotReported) {
  Plan plan;
  plan.roles.resize(1);
  plan.roles[0].name = "worker";
  plan.roles[0].unset = {"SLURM_*", "OMPI_*", "RANK"};
  const std::map<std::string, std::map<std::string, VariableSource>> provenance = {
      {"worker", {{"SLURM_*", kContract}, {"OMPI_*", kContract}, {"RANK", kContract}}}};
  EXPECT_EQ(RemovedByContract(plan, provenance, {"SLURM_JOB_ID=7", "OMPI_COMM_WORLD_RANK=1", "RANK=3"}),
            std::vector<std::string>{"RANK"});
}

}  // namespace
}  // namespace muster
