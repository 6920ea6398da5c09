// Tests the conclusions from host probes.
#include <gtest/gtest.h>

#include "run/hosts/host_differences.h"
#include "run/hosts/inspection_report.h"

namespace muster {
namespace {

using Lines = std::vector<std::string>;

Lines ReportedFindings(const std::vector<HostFault>& findings) {
  Lines lines;
  for (const HostFault& finding : findings) {
    lines.push_back(finding.kind + ": " + finding.text);
    EXPECT_FALSE(finding.effect.empty()) << finding.text;
    EXPECT_FALSE(finding.hint.empty()) << finding.text;
  }
  return lines;
}

TEST(HostTrials, ThatSucceedAreNotReported) {
  HostFacts facts;
  facts.trials = {{"mechanism", "pidfd", ""}, {"cgroup", "x", ""}, {"node", "/dev/nvidia0", ""}, {"name", "n1", ""}};
  EXPECT_EQ(ReportedFindings(FaultsOfTrials(0, facts)), Lines{});
  EXPECT_EQ(ReportedFindings(LacksOfHost(0, facts)), Lines{});
}

TEST(HostTrials, ThatFailAreReportedAsMissing) {
  HostFacts facts;
  for (const char* mechanism :
       {"pidfd", "close_range", "clone_cgroup", "landlock", "seccomp", "user_namespaces", "subreaper"}) {
    facts.trials.push_back({"mechanism", mechanism, "no"});
  }
  facts.trials.push_back({"cgroup", "a group of its own", "it cannot be made"});
  facts.trials.push_back({"name", "n1", "it has no address"});
  facts.trials.push_back({"ports", "ip_local_port_range", "9 ports"});
  facts.trials.push_back({"time", "the clock", "nothing keeps it"});
  EXPECT_EQ(ReportedFindings(LacksOfHost(0, facts)).size(), facts.trials.size())
      << "each with its effect and how to fix it";
  EXPECT_EQ(ReportedFindings(FaultsOfTrials(0, facts)), Lines{});
}

TEST(HostTrials, OfDevicesAreFaults) {
  HostFacts facts;
  facts.trials = {{"node", "/dev/davinci0", "Permission denied"}};
  EXPECT_EQ(ReportedFindings(FaultsOfTrials(0, facts)),
            Lines{"node: /dev/davinci0 cannot be opened: Permission denied"});
  facts.trials = {{"mechanism", "pidfd", ""}};
  facts.drivers = {{"cuda", "535.1"}};
  EXPECT_EQ(ReportedFindings(FaultsOfTrials(0, facts)),
            Lines{"node: driver cuda 535.1 is loaded, but has no device nodes"});
  facts.devices = 2;
  facts.device_kind = "cuda";
  EXPECT_EQ(ReportedFindings(FaultsOfTrials(0, facts)), Lines{});
}

TEST(HostTrials, AreMoreOnHostsWithDevices) {
  HostFacts facts;
  facts.trials = {{"mechanism", "pidfd", ""}};
  facts.limits = {{"memlock", 65536, 65536}};
  EXPECT_EQ(ReportedFindings(LacksOfHost(0, facts)), Lines{});
  facts.devices = 8;
  facts.device_kind = "ascend";
  EXPECT_EQ(ReportedFindings(LacksOfHost(0, facts)),
            (Lines{"driver: unknown driver version of ascend", "memlock: the limit memlock is 65536 bytes"}));
  facts.trials.clear();
  EXPECT_EQ(ReportedFindings(LacksOfHost(0, facts)), Lines{}) << "a run looks for none of it";
}

TEST(Lacks, AreListedSeparatelyAndFailNothing) {
  std::vector<InspectedHost> hosts(2);
  for (std::size_t i = 0; i < 2; ++i) {
    hosts[i].name = "n" + std::to_string(i + 1);
    hosts[i].facts.trials = {{"time", "the clock", "nothing keeps it in time"}};
  }
  const HostComparison found = CompareHosts(hosts, {}, "");
  EXPECT_TRUE(found.faults.empty());
  ASSERT_EQ(found.lacks.size(), 1U) << "hosts that lack the same are told of together";
  EXPECT_EQ(found.lacks[0].hosts, (HostSet{0, 1}));
  EXPECT_EQ(
      InspectionText(hosts, found, {}),
      "2 hosts, 2 of them reached\nno faults\nmissing, optional\n"
      "  2 of 2 hosts: the clock is not synchronised: nothing keeps it in time: n[1-2]\n    effect: times of several "
      "hosts drift apart\n    fix: systemctl enable --now chrony\nno differences\n");
}

}  // namespace
}  // namespace muster
