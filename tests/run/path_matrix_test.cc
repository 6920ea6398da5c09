#include <set>

#include <gtest/gtest.h>

#include "run/hosts/host_differences.h"

namespace muster {
namespace {

Plan PlanOf(std::uint32_t hosts) {
  Plan plan;
  plan.hosts.resize(hosts);
  return plan;
}

std::string NamesOf(const HostSet& set) {
  std::string text;
  for (const std::uint32_t host : set) text += (text.empty() ? "n" : ",n") + std::to_string(host + 1);
  return text;
}

std::vector<std::string> TextsOf(const std::vector<PathFailure>& faults) {
  std::vector<std::string> texts;
  for (const PathFailure& fault : faults) texts.push_back(PathFaultText(fault, NamesOf));
  return texts;
}

// Returns the reported failures of connection attempts.
std::vector<std::string> ReportedFailures(
    const Plan& plan, const std::map<std::string, std::uint16_t>& ports,
    const std::function<std::string(std::uint32_t, const ConnectionAttempt&)>& fails) {
  std::vector<std::vector<ConnectionAttempt>> tries;
  std::vector<std::vector<std::string>> errors;
  for (std::uint32_t from = 0; from < plan.hosts.size(); ++from) {
    tries.push_back(TriesOf(plan, from, ports));
    errors.emplace_back();
    for (const ConnectionAttempt& each : tries.back()) errors.back().push_back(fails(from, each));
  }
  return TextsOf(FaultsOf(tries, errors));
}

TEST(PathMatrix, ConnectsAllPairsOfAFewHosts) {
  for (std::uint32_t hosts = 2; hosts <= 8; ++hosts) {
    for (std::uint32_t from = 0; from < hosts; ++from) {
      std::set<std::uint32_t> reached;
      for (const ConnectionAttempt& each : TriesOf(PlanOf(hosts), from, {})) reached.insert(each.to);
      EXPECT_EQ(reached.size(), hosts - 1) << hosts;
      EXPECT_FALSE(reached.contains(from));
    }
  }
}

TEST(PathMatrix, BoundsConnectionsOfManyHostsButCoversEachHost) {
  std::map<std::uint32_t, std::uint32_t> tried;
  for (std::uint32_t from = 0; from < 1000; ++from) {
    const auto tries = TriesOf(PlanOf(1000), from, {});
    EXPECT_EQ(tries.size(), 10U);
    for (const ConnectionAttempt& each : tries) ++tried[each.to];
  }
  EXPECT_EQ(tried.size(), 1000U);
  for (const auto& [host, times] : tried) EXPECT_EQ(times, 10U) << host;
  EXPECT_TRUE(TriesOf(PlanOf(1), 0, {}).empty());
}

TEST(PathMatrix, ChecksAFewPortsOfThePlanFromEveryOtherHost) {
  Plan plan = PlanOf(3);
  std::map<std::string, std::uint16_t> ports;
  for (int i = 0; i < 10; ++i) {
    plan.ports["p" + std::to_string(i)] = {1, 0, ""};
    ports["p" + std::to_string(i)] = static_cast<std::uint16_t>(7000 + i);
  }
  EXPECT_EQ(PortsTried(plan, 1, ports).size(), kMaxPortsTried);
  EXPECT_EQ(TriesOf(plan, 0, ports).size(), kMaxPortsTried + 2);
  EXPECT_EQ(TriesOf(plan, 1, ports).size(), 2U);
}

TEST(PathMatrix, ReportsHostsThatCannotReachTheRendezvousEndpoint) {
  Plan plan = PlanOf(4);
  plan.ports["master"] = {0, 0, ""};
  const auto texts = ReportedFailures(plan, {{"master", 29500}}, [](std::uint32_t from, const ConnectionAttempt& each) {
    return from >= 2 && each.port == "master" ? "no answer" : "";
  });
  EXPECT_EQ(texts, std::vector<std::string>{"n3,n4 cannot reach n1:29500 (port master): no answer"});
}

TEST(PathMatrix, ReportsADisconnectedHostInTwoLines) {
  const auto texts = ReportedFailures(PlanOf(4), {}, [](std::uint32_t from, const ConnectionAttempt& each) {
    return from == 2 || each.to == 2 ? "no answer" : "";
  });
  EXPECT_EQ(texts,
            (std::vector<std::string>{"n3 cannot reach n1,n2,n4: no answer", "n1,n2,n4 cannot reach n3: no answer"}));
}

TEST(PathMatrix, ReportsNothingWithoutFailures) {
  EXPECT_TRUE(ReportedFailures(PlanOf(5), {}, [](std::uint32_t, const ConnectionAttempt&) { return ""; }).empty());
}

}  // namespace
}  // namespace muster
