#include <algorithm>
#include <random>

#include <gtest/gtest.h>

#include "agent/devices/host_cores.h"
#include "base/values/number_text.h"

namespace muster {
namespace {

using Lists = std::vector<std::string>;

// Nodes with the given numbers of physical cores, each of `threads` hardware threads; CPU numbers as Linux assigns
// them: all first threads, then all second ones.
HostCores Host(const std::vector<std::uint32_t>& cores_of_nodes, std::uint32_t threads = 1) {
  HostCores host;
  std::uint32_t all = 0;
  for (const std::uint32_t cores : cores_of_nodes) all += cores;
  std::uint32_t next = 0;
  for (const std::uint32_t cores : cores_of_nodes) {
    HostCores::Node node{static_cast<std::uint32_t>(host.nodes.size()), {}};
    for (std::uint32_t i = 0; i < cores; ++i, ++next) {
      std::vector<std::uint32_t> group;
      for (std::uint32_t t = 0; t < threads; ++t) group.push_back(next + t * all);
      node.groups.push_back(std::move(group));
    }
    host.nodes.push_back(std::move(node));
  }
  return host;
}

CoreRequest Auto() { return {}; }
CoreRequest Count(std::uint32_t count) { return {0, CoreRequest::Kind::kCount, count, {}, "worker", {}}; }
CoreRequest List(const char* list) { return {0, CoreRequest::Kind::kList, 0, *ParseNumberList(list), "worker", {}}; }

CoreShares SharesOf(const HostCores& host, const std::vector<CoreRequest>& requests,
                    const std::vector<std::optional<std::uint32_t>>& nodes = {}) {
  auto shares = ShareCores(host, requests, nodes);
  EXPECT_TRUE(shares) << shares.error();
  return shares ? *shares : CoreShares{};
}

Lists ListsOf(const CoreShares& shares) {
  Lists lists;
  for (const auto& cores : shares.of) lists.push_back(NumberListText(cores));
  return lists;
}

TEST(CoreShares, AreEqualAndStayWithinANode) {
  EXPECT_EQ(ListsOf(SharesOf(Host({8}), {Auto(), Auto()})), (Lists{"0-3", "4-7"}));
  EXPECT_EQ(ListsOf(SharesOf(Host({4, 4}), {Auto(), Auto(), Auto(), Auto()})), (Lists{"0-1", "2-3", "4-5", "6-7"}));
  EXPECT_EQ(ListsOf(SharesOf(Host({4, 4}), {Auto(), Auto(), Auto()})), (Lists{"0-1", "2-3", "4-7"}));
  EXPECT_EQ(ListsOf(SharesOf(Host({7}), {Auto(), Auto()})), (Lists{"0-2", "3-6"}));
  EXPECT_EQ(ListsOf(SharesOf(Host({4, 4}), {Auto()})), Lists{"0-3"}) << "one node's, not both";
}

TEST(CoreShares, KeepThreadsOfAPhysicalCoreTogetherIfPossible) {
  EXPECT_EQ(ListsOf(SharesOf(Host({4}, 2), {Auto(), Auto()})), (Lists{"0-1,4-5", "2-3,6-7"}));
  EXPECT_EQ(ListsOf(SharesOf(Host({2}, 2), {Auto(), Auto(), Auto(), Auto()})), (Lists{"0", "2", "1", "3"}));
}

TEST(CoreShares, AreNearTheDevice) {
  EXPECT_EQ(ListsOf(SharesOf(Host({4, 4}), {Auto(), Auto()}, {1, 0})), (Lists{"4-7", "0-3"}));
  EXPECT_EQ(ListsOf(SharesOf(Host({4, 4}), {Count(2), Count(2)}, {1, 1})), (Lists{"4-5", "6-7"}));
  EXPECT_EQ(ListsOf(SharesOf(Host({4, 4}), {Auto(), Auto()}, {9, std::nullopt})), (Lists{"0-3", "4-7"}))
      << "of that node muster may use nothing";
}

TEST(CoreShares, ReserveListedAndCountedCores) {
  EXPECT_EQ(ListsOf(SharesOf(Host({8}), {List("0-1"), List("0-1"), Count(2), Auto(), Auto()})),
            (Lists{"0-1", "0-1", "2-3", "4-5", "6-7"}));
  const CoreShares all_counted = SharesOf(Host({4}), {Count(4), Auto()});
  EXPECT_EQ(ListsOf(all_counted), (Lists{"0-3", "0-3"}));
  EXPECT_EQ(all_counted.notes.size(), 1U);
}

TEST(CoreShares, AreOneCoreEachIfCoresAreFewerThanProcesses) {
  const CoreShares shares = SharesOf(Host({2}), {Auto(), Auto(), Auto(), Auto(), Auto()});
  EXPECT_EQ(ListsOf(shares), (Lists{"0", "0", "0", "1", "1"}));
  EXPECT_EQ(shares.notes, Lists{"5 processes share 2 cores: they take turns"});
}

TEST(CoreShares, StayWithinTheQuota) {
  HostCores host = Host({8, 8});
  host.quota = 4.5;
  EXPECT_EQ(ListsOf(SharesOf(host, {Auto(), Auto()})), (Lists{"0-1", "8-9"}));
  host.quota = 0.5;
  EXPECT_EQ(SharesOf(host, {Auto(), Auto()}).notes, Lists{"2 processes share 1 core: they take turns"});
  host.quota = 4;
  EXPECT_EQ(SharesOf(host, {Count(6)}).notes, Lists{"6 cores are allocated, but the quota of the cgroup is 4 cores"});
}

TEST(CoreShares, ThatAreImpossibleAreRefusedWithTheNumbers) {
  EXPECT_EQ(ShareCores(Host({4}), {List("2-5")}).error(), "role worker names the cores 4-5; muster may use 0-3");
  EXPECT_EQ(ShareCores(Host({4}), {Count(3), Count(3)}).error(),
            "the processes that request a number of cores need 6, but only 4 are available (0-3)");
}

// Checks invariants for random hosts and requests: every process gets cores that muster may use, and exclusive cores
// are not shared.
TEST(CoreShares, AreSoundOnTenThousandRandomHosts) {
  std::mt19937 random(20261122);
  const auto below = [&](std::uint32_t limit) { return static_cast<std::uint32_t>(random() % limit); };
  for (int round = 0; round < 10'000; ++round) {
    std::vector<std::uint32_t> sizes(1 + below(4));
    for (std::uint32_t& size : sizes) size = 1 + below(12);
    HostCores host = Host(sizes, 1 + below(2));
    if (below(3) == 0) host.quota = 0.5 + below(16);
    std::vector<CoreRequest> requests;
    std::vector<std::optional<std::uint32_t>> nodes;
    for (std::uint32_t i = 0, n = 1 + below(12); i < n; ++i) {
      requests.push_back(below(4) == 0 ? Count(1 + below(3)) : Auto());
      nodes.push_back(below(2) == 0 ? std::nullopt : std::optional(below(5)));
    }
    const auto shares = ShareCores(host, requests, nodes);
    if (!shares) continue;
    std::vector<std::uint32_t> usable;
    for (const auto& node : host.nodes) {
      for (const auto& group : node.groups) usable.insert(usable.end(), group.begin(), group.end());
    }
    std::sort(usable.begin(), usable.end());
    std::vector<std::uint32_t> given;
    for (std::size_t i = 0; i < requests.size(); ++i) {
      const auto& cores = shares->of[i];
      ASSERT_FALSE(cores.empty());
      ASSERT_TRUE(std::is_sorted(cores.begin(), cores.end()));
      ASSERT_TRUE(std::includes(usable.begin(), usable.end(), cores.begin(), cores.end()));
      const bool counted = requests[i].kind == CoreRequest::Kind::kCount;
      ASSERT_TRUE(!counted || cores.size() == requests[i].count);
      given.insert(given.end(), cores.begin(), cores.end());
    }
    if (!shares->notes.empty()) continue;  // with notes, processes may share cores
    std::sort(given.begin(), given.end());
    ASSERT_EQ(std::adjacent_find(given.begin(), given.end()), given.end()) << "round " << round;
  }
}

}  // namespace
}  // namespace muster
