// Tests placement of processes: a table of layouts, and properties of random ones.
#include "plan/hosts/placement.h"

#include <map>
#include <random>
#include <set>

#include <gtest/gtest.h>

namespace muster {
namespace {

RoleLayout LayoutOf(const char* name, std::uint64_t count, std::uint32_t devices = 0, const char* world = "") {
  RoleLayout role;
  role.name = name;
  role.plays = name;
  role.world = world;
  role.count = count;
  role.devices = devices;
  role.place = {"recipe.lua", 7};
  return role;
}

std::vector<PlanHost> Hosts(std::initializer_list<std::uint32_t> devices) {
  std::vector<PlanHost> hosts;
  for (const std::uint32_t each : devices) hosts.push_back({"host" + std::to_string(hosts.size()), each});
  return hosts;
}

// Returns host and devices of every process in order, such as "0:0,1 0:2,3 1:0,1".
std::string Shown(const Result<std::vector<Placed>>& placed) {
  if (!placed) return placed.error().front().kind;
  std::string text;
  for (const Placed& process : *placed) {
    text += (text.empty() ? "" : " ") + std::to_string(process.host);
    for (std::size_t i = 0; i < process.devices.size(); ++i)
      text += (i == 0 ? ":" : ",") + std::to_string(process.devices[i]);
  }
  return text;
}

TEST(Placement, PacksProcessesWithDevices) {
  EXPECT_EQ(Shown(PlaceProcesses({LayoutOf("worker", 3, 1)}, Hosts({2, 2}))), "0:0 0:1 1:0");
  EXPECT_EQ(Shown(PlaceProcesses({LayoutOf("worker", 3, 2)}, Hosts({5, 4}))), "0:0,1 0:2,3 1:0,1");
  EXPECT_EQ(Shown(PlaceProcesses({LayoutOf("worker", 2, 4)}, Hosts({2, 4, 4}))), "1:0,1,2,3 2:0,1,2,3");
}

TEST(Placement, PlacesProcessesWithoutDevicesInEqualBlocks) {
  EXPECT_EQ(Shown(PlaceProcesses({LayoutOf("worker", 5)}, Hosts({4, 4}))), "0 0 0 1 1");
  EXPECT_EQ(Shown(PlaceProcesses({LayoutOf("worker", 7)}, Hosts({0, 0, 0}))), "0 0 0 1 1 2 2");
  EXPECT_EQ(Shown(PlaceProcesses({LayoutOf("worker", 2)}, Hosts({0, 0, 0}))), "0 1");
}

TEST(Placement, FollowsTheSpread) {
  RoleLayout packed = LayoutOf("worker", 3);
  packed.spread = Spread::kPack;
  EXPECT_EQ(Shown(PlaceProcesses({packed}, Hosts({1, 1}))), "0 0 0");
  RoleLayout dealt = LayoutOf("worker", 4, 1);
  dealt.spread = Spread::kDeal;
  EXPECT_EQ(Shown(PlaceProcesses({dealt}, Hosts({8, 8}))), "0:0 0:1 1:0 1:1");
  EXPECT_EQ(Shown(PlaceProcesses({dealt}, Hosts({8, 1}))), "devices");
}

TEST(Placement, PutsTheSchedulerOnTheFirstHost) {
  EXPECT_EQ(Shown(PlaceProcesses({LayoutOf("scheduler", 1), LayoutOf("server", 2)}, Hosts({0, 0}))), "0 0 1");
  RoleLayout moved = LayoutOf("scheduler", 1);
  moved.hosts = {1};
  EXPECT_EQ(Shown(PlaceProcesses({moved}, Hosts({0, 0}))), "1");
}

TEST(Placement, CountsPerHost) {
  RoleLayout role = LayoutOf("worker", 0, 2);
  role.count.reset();
  role.per_host = 2;
  EXPECT_EQ(Shown(PlaceProcesses({role}, Hosts({4, 5}))), "0:0,1 0:2,3 1:0,1 1:2,3");
  role.hosts = {1};
  EXPECT_EQ(Shown(PlaceProcesses({role}, Hosts({4, 5}))), "1:0,1 1:2,3");
  EXPECT_EQ(Shown(PlaceProcesses({role}, Hosts({4, 3}))), "devices");
}

// Prevents: hosts that are named with a number get more workers than that, while others have slots left.
TEST(Placement, FillsSlotsInOrder) {
  const auto placed = [](std::uint64_t count, std::initializer_list<std::uint32_t> slots) {
    return Shown(PlaceProcesses({LayoutOf("worker", count, 0, "w")}, Hosts(slots), slots));
  };
  EXPECT_EQ(placed(10, {4, 2, 4}), "0 0 0 0 1 1 2 2 2 2");
  EXPECT_EQ(placed(5, {2, 3}), "0 0 1 1 1");
  EXPECT_EQ(placed(4, {8, 8}), "0 0 0 0");
  EXPECT_EQ(placed(9, {1, 4}), "0 0 0 1 1 1 1 1 1") << "as mpirun --oversubscribe: 3, 6";
  EXPECT_EQ(Shown(PlaceProcesses({LayoutOf("scheduler", 1), LayoutOf("worker", 3)}, Hosts({1, 4}), {1, 4})), "0 0 1 1")
      << "schedulers and servers take no slot";
  EXPECT_EQ(Shown(PlaceProcesses({LayoutOf("worker", 2), LayoutOf("extra", 1, 1)}, Hosts({4, 4}), {4, 4})), "0 1 0:0")
      << "the numbers are devices";
  RoleLayout dealt = LayoutOf("worker", 4);
  dealt.spread = Spread::kDeal;
  EXPECT_EQ(Shown(PlaceProcesses({dealt}, Hosts({8, 8}), {8, 8})), "0 0 1 1");
}

TEST(Placement, DealsNoMoreThanThereIsRoomFor) {
  const auto placed = [](std::uint64_t count, std::initializer_list<std::uint32_t> room) {
    return Shown(PlaceProcesses({LayoutOf("worker", count, 0, "w")}, Hosts(room), {}, room));
  };
  EXPECT_EQ(placed(9, {4, 4, 1}), "0 0 0 0 1 1 1 1 2");
  EXPECT_EQ(placed(7, {4, 4, 1}), "0 0 0 1 1 1 2");
  EXPECT_EQ(placed(2, {64, 32}), "0 1") << "nobody asked to fill the first one";
  EXPECT_EQ(placed(5, {64, 64}), "0 0 0 1 1");
  EXPECT_EQ(placed(8, {4, 1, 1}), "0 0 0 0 0 1 1 2") << "what exceeds it is dealt";
  EXPECT_EQ(placed(1'000'000, {1'000'000, 1}).size(), 2'000'000U - 1);
  EXPECT_EQ(Shown(PlaceProcesses({LayoutOf("worker", 2), LayoutOf("worker", 3)}, Hosts({3, 3}), {}, {3, 3})),
            "0 1 0 0 1")
      << "two roles";
  RoleLayout dealt = LayoutOf("worker", 4);
  dealt.spread = Spread::kDeal;
  EXPECT_EQ(Shown(PlaceProcesses({dealt}, Hosts({3, 1}), {}, {3, 1})), "0 0 1 1") << "as asked";
}

TEST(Placement, TakesPerHostForTheLargestNumberBesideACount) {
  RoleLayout role = LayoutOf("worker", 5);
  role.per_host = 2;
  EXPECT_EQ(Shown(PlaceProcesses({role}, Hosts({8, 8, 8, 8}))), "0 0 1 1 2");
  EXPECT_EQ(Shown(PlaceProcesses({role}, Hosts({8, 8}))), "placement");
}

// Random host lists against the rule, written down as a loop over slots.
TEST(Placement, AgreesWithTheRuleOfSlots) {
  std::mt19937 random(7);
  for (int i = 0; i < 500; ++i) {
    std::vector<std::uint32_t> slots(1 + random() % 6);
    std::uint32_t total = 0;
    for (std::uint32_t& each : slots) total += each = 1 + random() % 8;
    std::vector<PlanHost> hosts;
    for (const std::uint32_t each : slots) hosts.push_back({"host" + std::to_string(hosts.size()), each});
    const std::uint64_t count = 1 + random() % total;
    const auto placed = PlaceProcesses({LayoutOf("worker", count)}, hosts, slots);
    ASSERT_TRUE(placed);
    std::size_t next = 0;
    for (std::uint32_t host = 0; host < slots.size(); ++host) {
      for (std::uint32_t slot = 0; slot < slots[host] && next < count; ++slot) EXPECT_EQ((*placed)[next++].host, host);
    }
    EXPECT_EQ(next, count);
  }
}

TEST(Placement, UsesTheHostsOfTheRoleInTheirOrder) {
  RoleLayout role = LayoutOf("worker", 3, 1);
  role.hosts = {2, 0};
  EXPECT_EQ(Shown(PlaceProcesses({role}, Hosts({2, 2, 2}))), "2:0 2:1 0:0");
  role.hosts = {3};
  EXPECT_EQ(Shown(PlaceProcesses({role}, Hosts({2, 2, 2}))), "placement");
  role.hosts = {1, 1};
  EXPECT_EQ(Shown(PlaceProcesses({role}, Hosts({2, 2, 2}))), "placement");
}

TEST(Placement, AssignsNoDeviceToTwoRoles) {
  EXPECT_EQ(Shown(PlaceProcesses({LayoutOf("worker", 2, 2), LayoutOf("evaluator", 3, 1)}, Hosts({3, 4}))),
            "0:0,1 1:0,1 0:2 1:2 1:3");
}

TEST(Placement, ReportsHowManyDevicesAreMissing) {
  const auto placed = PlaceProcesses({LayoutOf("evaluator", 1, 1), LayoutOf("worker", 8, 1)}, Hosts({4, 4}));
  ASSERT_FALSE(placed);
  const Diagnostic& diagnostic = placed.error().front();
  EXPECT_EQ(diagnostic.kind, "devices");
  EXPECT_EQ(diagnostic.place, (Place{"recipe.lua", 7}));
  EXPECT_EQ(diagnostic.message,
            "worker: 8 processes with 1 device each need 8, but 2 hosts offer 8, 1 of them taken by other roles");
  EXPECT_NE(diagnostic.hint.find("at most 7"), std::string::npos);
}

TEST(Placement, KeepsTheDevicesOfAProcessOnOneHost) {
  const auto placed = PlaceProcesses({LayoutOf("worker", 2, 3)}, Hosts({4, 2}));
  ASSERT_FALSE(placed);
  EXPECT_EQ(placed.error().front().notes.front().message, "all devices of a process are on one host");
}

TEST(Placement, ReportsEveryRoleThatCannotBePlaced) {
  RoleLayout both = LayoutOf("other", 1);
  both.per_host = 0;
  RoleLayout neither = LayoutOf("third", 1);
  neither.count.reset();
  const auto placed = PlaceProcesses({LayoutOf("worker", 9, 1), both, neither}, Hosts({4}));
  ASSERT_FALSE(placed);
  ASSERT_EQ(placed.error().size(), 3U);
  EXPECT_EQ(placed.error()[1].kind, "placement");
  EXPECT_EQ(placed.error()[2].kind, "placement");
}

TEST(Placement, RefusesTooManyProcessesWithoutBuildingThem) {
  EXPECT_EQ(Shown(PlaceProcesses({LayoutOf("worker", kMaxProcesses + 1)}, Hosts({0}))), "range");
  EXPECT_EQ(Shown(PlaceProcesses({LayoutOf("a", kMaxProcesses), LayoutOf("b", 1)}, Hosts({0}))), "range");
  EXPECT_EQ(Shown(PlaceProcesses({LayoutOf("worker", 0xffffffffffffffffULL)}, Hosts({0}))), "range");
  RoleLayout per_host = LayoutOf("worker", 0);
  per_host.count.reset();
  per_host.per_host = 0xffffffffffffffffULL;
  EXPECT_EQ(Shown(PlaceProcesses({per_host}, Hosts({0, 0}))), "range");
  EXPECT_EQ(Shown(PlaceProcesses({LayoutOf("worker", 1, 4294967295U)}, Hosts({4294967295U}))), "range");
  EXPECT_EQ(Shown(PlaceProcesses({LayoutOf("worker", 1)}, {})), "placement");
}

TEST(Placement, PlacesAMillionProcesses) {
  const auto placed = PlaceProcesses({LayoutOf("worker", kMaxProcesses, 0, "worker")}, Hosts({0, 0, 0}));
  ASSERT_TRUE(placed);
  EXPECT_EQ(placed->size(), kMaxProcesses);
  EXPECT_EQ(*placed->back().rank, kMaxProcesses - 1);
}

TEST(Placement, RanksTheRolesOfOneWorldConsecutively) {
  const auto placed = PlaceProcesses(
      {LayoutOf("chief", 1, 0, "trainer"), LayoutOf("helper", 2), LayoutOf("worker", 3, 0, "trainer")}, Hosts({0, 0}));
  ASSERT_TRUE(placed);
  std::string text;
  for (const Placed& process : *placed) {
    text += (process.rank ? std::to_string(*process.rank) : "-") + "/" + std::to_string(process.world_size) +
            " local " + std::to_string(process.local_rank) + "/" + std::to_string(process.local_size) + "; ";
  }
  EXPECT_EQ(text,
            "0/4 local 0/3; "                                  // chief on host 0
            "-/0 local 0/1; -/0 local 0/1; "                   // helpers on hosts 0 and 1
            "1/4 local 1/3; 2/4 local 2/3; 3/4 local 0/1; ");  // workers on hosts 0, 0 and 1
}

// Every property in the header must hold for each random layout that can be placed.
TEST(Placement, KeepsItsInvariantsForRandomLayouts) {
  std::mt19937 random(7);
  int placed_layouts = 0;
  for (int round = 0; round < 2000; ++round) {
    std::vector<PlanHost> hosts;
    for (std::size_t i = 0, n = 1 + random() % 5; i < n; ++i)
      hosts.push_back({"h" + std::to_string(i), static_cast<std::uint32_t>(random() % 9)});
    std::vector<RoleLayout> roles;
    for (std::size_t i = 0, n = 1 + random() % 4; i < n; ++i) {
      RoleLayout role =
          LayoutOf(("r" + std::to_string(i)).c_str(), random() % 10, static_cast<std::uint32_t>(random() % 3));
      role.plays = random() % 5 == 0 ? "scheduler" : "other";
      if (random() % 2 == 0) role.world = "w" + std::to_string(random() % 2);
      role.spread = static_cast<Spread>(random() % 3);
      if (random() % 4 == 0) {
        role.per_host = *role.count % 3;
        role.count.reset();
      }
      if (random() % 4 == 0) role.hosts = {static_cast<std::uint32_t>(random() % hosts.size())};
      roles.push_back(std::move(role));
    }
    const auto placed = PlaceProcesses(roles, hosts);
    if (!placed) continue;
    ++placed_layouts;

    std::set<std::pair<std::uint32_t, std::uint32_t>> devices;
    std::map<std::string, std::set<std::uint32_t>> ranks;
    std::map<std::string, std::set<std::pair<std::uint32_t, std::uint32_t>>> local_ranks;
    std::vector<std::uint32_t> next_index(roles.size());
    for (const Placed& process : *placed) {
      const RoleLayout& role = roles[process.role];
      EXPECT_EQ(process.index, next_index[process.role]++);
      EXPECT_EQ(process.devices.size(), role.devices);
      for (const std::uint32_t device : process.devices) {
        EXPECT_LT(device, hosts[process.host].devices);
        EXPECT_TRUE(devices.insert({process.host, device}).second);
      }
      EXPECT_EQ(process.rank.has_value(), !role.world.empty());
      const std::string company = role.world.empty() ? "role " + role.name : role.world;
      if (process.rank) {
        EXPECT_TRUE(ranks[company].insert(*process.rank).second);
      }
      EXPECT_LT(process.local_rank, process.local_size);
      EXPECT_TRUE(local_ranks[company].insert({process.host, process.local_rank}).second);
    }
    for (std::size_t r = 0; r < roles.size(); ++r) {
      if (roles[r].count) {
        EXPECT_EQ(next_index[r], *roles[r].count);
      }
    }
    for (const Placed& process : *placed) {
      const RoleLayout& role = roles[process.role];
      if (!process.rank) continue;
      EXPECT_EQ(process.world_size, ranks[role.world].size());
      EXPECT_LT(*process.rank, process.world_size);
      const auto& local = local_ranks[role.world];
      const auto on_host =
          std::count_if(local.begin(), local.end(), [&](const auto& entry) { return entry.first == process.host; });
      EXPECT_EQ(process.local_size, on_host);
    }
  }
  EXPECT_GT(placed_layouts, 500);
}

}  // namespace
}  // namespace muster
