// Tests gang scheduling on hosts: all places or none, no double assignment, and large trials find whole hosts.
#include "sweep/scheduler/host_pool.h"

#include <gtest/gtest.h>

#include "muster/plan.h"
#include "sweep/scheduler/trial_planning.h"

namespace muster {
namespace {

TrialNeeds Gang(std::uint32_t hosts, std::uint32_t devices) { return {hosts, HostShare{devices, devices}}; }

HostPool FourHosts() {
  return HostPool({{"n1", 8, 16}, {"n2", 8, 16}, {"n3", 8, 16}, {"n4", 8, 16}}, std::nullopt, std::nullopt);
}

TEST(HostPool, PlacesAGangOnDifferentHosts) {
  const HostPool pool = FourHosts();
  const auto hosts = pool.Place(Gang(3, 8));
  ASSERT_TRUE(hosts);
  EXPECT_EQ(std::set(hosts->begin(), hosts->end()).size(), 3u);
}

TEST(HostPool, PrefersAPartlyUsedHostToAnEmptyOne) {
  HostPool pool = FourHosts();
  pool.Take(Gang(1, 6), {2});
  EXPECT_EQ(pool.Place(Gang(1, 2)), (std::vector<std::uint32_t>{2}));
  EXPECT_EQ(pool.Place(Gang(1, 4)), (std::vector<std::uint32_t>{0}));
}

TEST(HostPool, NeverAssignsADeviceTwice) {
  HostPool pool = FourHosts();
  std::uint32_t placed = 0;
  while (const auto hosts = pool.Place(Gang(1, 3))) {
    pool.Take(Gang(1, 3), *hosts);
    ++placed;
  }
  EXPECT_EQ(placed, 8u);  // two on each host: 6 of 8
  EXPECT_EQ(pool.devices_in_use(), 24u);
  EXPECT_TRUE(pool.Place(Gang(4, 2)));
  EXPECT_FALSE(pool.Place(Gang(1, 4)));
}

TEST(HostPool, SharesADeviceBetweenTheAllowedNumberOfTrials) {
  HostPool pool({{"n1", 2, 16}}, std::nullopt, std::nullopt, 2);
  for (int i = 0; i < 4; ++i) {
    ASSERT_TRUE(pool.Place(Gang(1, 1))) << i;
    pool.Take(Gang(1, 1), {0});
  }
  EXPECT_FALSE(pool.Place(Gang(1, 1)));
  EXPECT_EQ(pool.WhyNever(Gang(1, 3)), "it needs 3 devices of a host, and no host of the sweep has more than 2");
}

TEST(HostPool, DistributesTrialsWithoutDevicesByCores) {
  HostPool pool({{"n1", 0, 4}, {"n2", 0, 4}}, std::nullopt, std::nullopt);
  const TrialNeeds three = {{0, 3}};
  EXPECT_EQ(pool.Place(three), (std::vector<std::uint32_t>{0}));
  pool.Take(three, {0});
  EXPECT_EQ(pool.Place(three), (std::vector<std::uint32_t>{1}));
  pool.Take(three, {1});
  EXPECT_FALSE(pool.Place(three));
  EXPECT_TRUE(pool.Place({{0, 1}}));
  pool.Give(three, {0});
  EXPECT_TRUE(pool.Place({{0, 100}}));  // a trial that requests more than a host has gets the host alone
  EXPECT_TRUE(pool.WhyNever({{0, 100}}).empty());
}

TEST(HostPool, CountsSlotsInsteadOfCoresIfGiven) {
  HostPool pool({{"", 0, 1}}, 2, std::nullopt);
  const TrialNeeds ten = {{0, 10}};
  for (int i = 0; i < 2; ++i) {
    ASSERT_TRUE(pool.Place(ten));
    pool.Take(ten, {0});
  }
  EXPECT_FALSE(pool.Place(ten));
}

TEST(HostPool, RespectsTheBudgetOfDevices) {
  HostPool pool({{"n1", 8, 1}, {"n2", 8, 1}}, std::nullopt, 10);
  pool.Take(Gang(1, 8), {0});
  EXPECT_FALSE(pool.Place(Gang(1, 4)));
  EXPECT_TRUE(pool.Place(Gang(1, 2)));
  EXPECT_EQ(pool.WhyNever(Gang(2, 8)), "it needs 16 devices, and the budget has 10");
}

TEST(HostPool, ReportsWhyATrialNeverFits) {
  HostPool pool = FourHosts();
  EXPECT_EQ(pool.WhyNever(Gang(4, 8)), "");
  EXPECT_EQ(pool.WhyNever(Gang(5, 1)), "it needs 5 hosts, and the sweep has 4");
  EXPECT_EQ(pool.WhyNever(Gang(1, 9)), "it needs 9 devices of a host, and no host of the sweep has more than 8");
  pool.Close(1);
  EXPECT_EQ(pool.WhyNever(Gang(4, 8)), "it needs 4 hosts, and the sweep has 3");
}

TEST(HostPool, PlacesNothingOnAClosedHost) {
  HostPool pool = FourHosts();
  pool.Close(0);
  pool.Close(1);
  EXPECT_EQ(pool.Place(Gang(1, 8)), (std::vector<std::uint32_t>{2}));
  EXPECT_FALSE(pool.Place(Gang(3, 1)));
}

TEST(NeedsOf, CountsDevicesOnceAndProcessesByHost) {
  Plan plan;
  plan.hosts = {{"host0", 8, ""}, {"host1", 8, ""}};
  plan.processes.resize(3);
  plan.processes[0].devices = {0, 1};
  plan.processes[1].devices = {1};
  plan.processes[2].host = 1;
  EXPECT_EQ(NeedsOf(plan), (TrialNeeds{{2, 2}, {0, 1}}));
}

TEST(TrialQueue, StartsTheLargestThatFitsAndFillsTheGaps) {
  HostPool pool = FourHosts();
  TrialQueue queue;
  queue.Add(0, Gang(1, 4));
  queue.Add(1, Gang(3, 8));
  queue.Add(2, Gang(2, 8));
  queue.Add(3, Gang(1, 4));
  EXPECT_EQ(queue.Next(pool)->trial, 1u);
  EXPECT_EQ(queue.Next(pool)->trial, 0u);  // trial 2 needs a second host
  EXPECT_EQ(queue.Next(pool)->trial, 3u);
  EXPECT_FALSE(queue.Next(pool));
  EXPECT_EQ(pool.devices_in_use(), 32u);
  EXPECT_EQ(queue.trials(), (std::vector<TrialNumber>{2}));
}

TEST(TrialQueue, DoesNotStarveALargeTrial) {
  HostPool pool({{"n1", 8, 1}, {"n2", 8, 1}}, std::nullopt, std::nullopt);
  TrialQueue queue;
  TrialNumber next = 0;
  std::vector<TrialQueue::Start> running;
  for (; next < 4; ++next) queue.Add(next, Gang(1, 4));
  while (auto start = queue.Next(pool)) running.push_back(*start);
  constexpr TrialNumber kLarge = 1'000;
  queue.Add(kLarge, Gang(2, 8));
  // Small trials keep coming; each time the oldest one ends.
  std::uint32_t ended = 0;
  bool started = false;
  for (; ended < 100 && !started; ++ended) {
    queue.Add(next++, Gang(1, 4));
    if (running.empty()) break;
    pool.Give(running.front().needs, running.front().hosts);
    running.erase(running.begin());
    while (auto start = queue.Next(pool)) {
      started = started || start->trial == kLarge;
      running.push_back(*start);
    }
  }
  EXPECT_TRUE(started);
  EXPECT_LE(ended, TrialQueue::kMaxOvertaken + 8);
}

TEST(TrialQueue, RemovesTrialsThatNeverFit) {
  HostPool pool = FourHosts();
  TrialQueue queue;
  queue.Add(7, Gang(5, 8));
  queue.Add(8, Gang(1, 8));
  const auto hopeless = queue.TakeHopeless(pool);
  ASSERT_EQ(hopeless.size(), 1u);
  EXPECT_EQ(hopeless[0].first, 7u);
  EXPECT_EQ(hopeless[0].second, "it needs 5 hosts, and the sweep has 4");
  EXPECT_EQ(queue.size(), 1u);
}

TEST(HostPool, OfOwnHostsIsLimitedBySlotsAlone) {
  HostPool pool = HostPool::OfOwnHosts(8, std::nullopt, 2, std::nullopt);
  EXPECT_EQ(pool.Place(Gang(100, 8)), std::vector<std::uint32_t>(100, 0));
  pool.Take(Gang(100, 8), std::vector<std::uint32_t>(100, 0));
  pool.Await({0});
  ASSERT_TRUE(pool.Place(Gang(1, 8)));
  pool.Take(Gang(1, 8), {0});
  EXPECT_FALSE(pool.Place(Gang(1, 1)));
  pool.Give(Gang(100, 8), std::vector<std::uint32_t>(100, 0));
  EXPECT_TRUE(pool.Place(Gang(1, 1)));
  EXPECT_EQ(pool.WhyNever(Gang(1, 9)), "it needs 9 devices of a host, and no host of the sweep has more than 8");
}

TEST(HostPool, OfOwnHostsRefusesMoreThanAnAllocationHas) {
  const HostPool pool = HostPool::OfOwnHosts(8, 2, 4, std::nullopt);
  EXPECT_TRUE(pool.Place(Gang(2, 8)));
  EXPECT_FALSE(pool.Place(Gang(3, 1)));
  EXPECT_EQ(pool.WhyNever(Gang(3, 1)), "it needs 3 hosts, and its allocation has 2");
}

}  // namespace
}  // namespace muster
