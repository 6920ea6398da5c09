// Tests which waiting job gets devices that become free; pure functions, no files and no processes.
#include <gtest/gtest.h>

#include "agent/devices/device_leases.h"

namespace muster {
namespace {

using Devices = std::map<std::string, DeviceHolders>;

WaitingJob Job(std::string owner, std::uint64_t arrival, std::size_t count = 1, std::uint32_t overtaken = 0) {
  return {{{"0", "1", "2", "3"}, count}, std::move(owner), arrival, overtaken};
}

Devices HeldBy(const std::vector<std::string>& owners) {
  Devices devices;
  for (std::size_t i = 0; i < owners.size(); ++i) {
    if (!owners[i].empty()) devices[std::to_string(i)].owners = {owners[i]};
  }
  return devices;
}

TEST(DeviceTurns, ServeTheEarliestOfEqualJobs) {
  EXPECT_EQ(ServeInTurn({Job("b", 2), Job("a", 1)}, HeldBy({"x", "x", "x", ""})),
            (std::vector<DeviceGrant>{{1, {3}, {}}}));
}

TEST(DeviceTurns, ServeTheOwnerThatHoldsFewerDevicesFirst) {
  EXPECT_EQ(ServeInTurn({Job("a", 1), Job("b", 9)}, HeldBy({"a", "a", "a", ""})),
            (std::vector<DeviceGrant>{{1, {3}, {}}}));
}

TEST(DeviceTurns, CountEachGrantWhenSharingBetweenParties) {
  // All four jobs of one sweep came first; each grant counts at once.
  const std::vector<WaitingJob> waiting = {Job("a", 1), Job("a", 2), Job("a", 3), Job("a", 4),
                                           Job("b", 5), Job("b", 6), Job("b", 7)};
  EXPECT_EQ(ServeInTurn(waiting, {}),
            (std::vector<DeviceGrant>{{0, {0}, {}}, {4, {1}, {}}, {1, {2}, {}}, {5, {3}, {}}}));
}

TEST(DeviceTurns, LetSmallerJobsOvertakeOneThatDoesNotFitYet) {
  EXPECT_EQ(ServeInTurn({Job("large", 1, 2), Job("small", 2)}, HeldBy({"x", "x", "x", ""})),
            (std::vector<DeviceGrant>{{1, {3}, {0}}}));
  WaitingJob elsewhere = Job("large", 1, 2);
  elsewhere.request.candidates = {"0", "1"};
  EXPECT_EQ(ServeInTurn({elsewhere, Job("small", 2)}, HeldBy({"x", "x", "x", ""})),
            (std::vector<DeviceGrant>{{1, {3}, {}}}))
      << "it does not want that device";
}

TEST(DeviceTurns, ReserveDevicesForAJobOvertakenTooOften) {
  const WaitingJob large = Job("large", 1, 2, kMaxDeviceOvertakes);
  EXPECT_TRUE(ServeInTurn({Job("small", 0), large}, HeldBy({"x", "x", "x", ""})).empty());
  EXPECT_EQ(ServeInTurn({Job("small", 0), large}, HeldBy({"x", "", "", ""})),
            (std::vector<DeviceGrant>{{1, {1, 2}, {}}, {0, {3}, {}}}));
}

TEST(DeviceTurns, GrantOnlyDevicesThatTheJobMayUse) {
  WaitingJob bound = Job("a", 1);
  bound.request.candidates = {"0", "1"};
  EXPECT_EQ(ServeInTurn({bound, Job("b", 2)}, HeldBy({"x", "x", "", "x"})), (std::vector<DeviceGrant>{{1, {2}, {}}}));
}

TEST(DeviceTurns, SpreadJobsThatShare) {
  const auto sharing = [](std::uint32_t per_device) {
    WaitingJob job = Job("a", 1);
    job.request.shared = true;
    job.request.per_device = per_device;
    return job;
  };
  Devices devices;
  devices["0"] = {{"a", "b"}, true};
  devices["1"] = {{"a"}, true};
  devices["2"] = {{"x"}, false};
  devices["3"] = {{"a"}, true};
  EXPECT_EQ(ServeInTurn({sharing(0)}, devices), (std::vector<DeviceGrant>{{0, {1}, {}}}));
  EXPECT_EQ(ServeInTurn({sharing(2), sharing(2), sharing(2)}, devices),
            (std::vector<DeviceGrant>{{0, {1}, {}}, {1, {3}, {}}}))
      << "two on each, and none on the one that is held alone";
  EXPECT_TRUE(ServeInTurn({Job("alone", 1)}, devices).empty()) << "one that does not share joins nobody";
}

}  // namespace
}  // namespace muster
