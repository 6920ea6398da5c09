// Tests faults of drills as texts, and what is refused before anything starts.
#include "run/simulate/drill.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "run/sample_plan.h"

namespace muster {
namespace {

std::string ErrorOf(const std::string& text) {
  const auto fault = ParseDrillFault(text);
  return fault ? "" : fault.error();
}
bool Says(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

TEST(DrillFault, IsReadFromItsText) {
  EXPECT_EQ(ParseDrillFault("kill:worker:3@12s").value(), (DrillFault{FaultKind::kKill, "worker:3", 12, 0}));
  EXPECT_EQ(ParseDrillFault("stop:worker.1@2m+500ms").value(), (DrillFault{FaultKind::kStop, "worker.1", 120, 0.5}));
  EXPECT_EQ(ParseDrillFault("cut:n2@1s+30s").value(), (DrillFault{FaultKind::kCut, "n2", 1, 30}));
  EXPECT_EQ(ParseDrillFault("head@1m").value(), (DrillFault{FaultKind::kHead, "", 60, 0}));
  EXPECT_EQ(DrillFaultText(ParseDrillFault("slow:n1@3s+2s").value()), "slow n1 for 2.0 s");
}

TEST(DrillFault, IsRefusedWithTheReason) {
  EXPECT_TRUE(Says(ErrorOf("kill:worker:3"), "its time is missing"));
  EXPECT_TRUE(Says(ErrorOf("explode:n1@3s"), "there are kill, stop, slow, agent, cut and head"));
  EXPECT_TRUE(Says(ErrorOf("kill@3s"), "its target is missing"));
  EXPECT_TRUE(Says(ErrorOf("head:n1@3s"), "the head has no target"));
  EXPECT_TRUE(Says(ErrorOf("kill:worker:1@3s+2s"), "it lasts for good"));
  EXPECT_TRUE(Says(ErrorOf("slow:n1@3s"), "how long it lasts is missing"));
  EXPECT_TRUE(Says(ErrorOf("stop:n1@3s+x"), "how long it lasts is no time"));
  EXPECT_TRUE(Says(ErrorOf("disk:n1@3s"), "muster does not fill disks"));
}

DrillPlace Here(const Plan& plan) { return {&plan, {}, {}, false, 0}; }
DrillPlace OverSsh(const Plan& plan) { return {&plan, {{"n1", {}, {}}, {"n2", {}, {}}}, {{"n3", {}, {}}}, true, 10}; }
std::vector<std::string> Problems(const std::string& fault, const DrillPlace& place) {
  const auto checked = CheckFaults({ParseDrillFault(fault).value()}, place);
  std::vector<std::string> problems;
  if (!checked) {
    for (const Diagnostic& problem : checked.error()) problems.push_back(problem.message);
  }
  return problems;
}

TEST(DrillFaults, GetTheNamesOfProcessesAndHostsAndAreOrderedByTime) {
  const Plan plan = SamplePlan({{"worker", 4}}, 2);
  const auto faults =
      CheckFaults({*ParseDrillFault("agent:host1@5s"), *ParseDrillFault("kill:worker:3@2s")}, OverSsh(plan));
  ASSERT_TRUE(faults);
  EXPECT_EQ(*faults, (std::vector<DrillFault>{{FaultKind::kKill, "worker.3", 2, 0}, {FaultKind::kAgent, "n2", 5, 0}}));
  const Plan alone = SamplePlan({{"worker", 1}}, 1);
  EXPECT_EQ(CheckFaults({*ParseDrillFault("agent:localhost@5s")}, Here(alone))->front().target, "host0");
}

TEST(DrillFaults, AreRefusedWhereTheyCannotBeInjected) {
  Plan plan = SamplePlan({{"worker", 4}}, 2);
  using Texts = std::vector<std::string>;
  EXPECT_EQ(Problems("kill:worker:4@1s", Here(plan)), Texts{"there is no process \"worker:4\""});
  EXPECT_EQ(Problems("agent:n9@1s", OverSsh(plan)), Texts{"the run has no host \"n9\""});
  EXPECT_EQ(Problems("stop:worker:1@1s", Here(plan)),
            Texts{"stop worker.1: it would hang for ever: the recipe has no limit of silence"});
  EXPECT_EQ(Problems("cut:host0@1s+2s", Here(plan)),
            Texts{"cut host0 for 2.0 s: only connections over ssh can be held"});
  EXPECT_EQ(Problems("cut:n1@1s+9s", OverSsh(plan)).size(), 1U) << "near to the heartbeat timeout of 10 s";
  EXPECT_EQ(Problems("cut:n1@1s+5s", OverSsh(plan)), Texts{});
  EXPECT_EQ(Problems("cut:n1@1s+15s", OverSsh(plan)), Texts{});
  plan.roles[0].limits.silent_ms = 8'000;
  EXPECT_EQ(Problems("stop:worker:1@1s", Here(plan)), Texts{});
  EXPECT_EQ(Problems("stop:worker:1@1s+6s", Here(plan)).size(), 1U) << "near to the limit of silence";
  EXPECT_EQ(Problems("stop:worker:1@1s+4s", Here(plan)), Texts{});
}

TEST(DrillFaults, OfATraceKillAProcessOfTheHostOrItsAgent) {
  const Plan plan = SamplePlan({{"worker", 4}}, 2);
  const std::vector<SimulatedFailure> failures = {{1, 0, 0}, {2, 1, 0}, {3, 1, 60}, {4, 7, 0}};
  const auto faults = FaultsOf(failures, plan, 1);
  ASSERT_EQ(faults.size(), 3U) << "there is no host 7";
  const auto host_of = [&](const DrillFault& fault) {
    for (const Process& process : plan.processes) {
      if (ProcessName(plan, process) == fault.target) return process.host;
    }
    return ~0U;
  };
  EXPECT_EQ(host_of(faults[0]), 0U);
  EXPECT_EQ(host_of(faults[1]), 1U);
  EXPECT_EQ(faults[2], (DrillFault{FaultKind::kAgent, plan.hosts[1].label, 3, 0}));
  EXPECT_EQ(FaultsOf(failures, plan, 1), faults) << "the same for the same seed";
}

}  // namespace
}  // namespace muster
