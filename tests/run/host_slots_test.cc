// Tests the mapping of the plan's hosts to machines.
#include <gtest/gtest.h>

#include "run/sample_plan.h"
#include "run/supervise/host_replacement.h"

namespace muster {
namespace {

Plan PlanWith(std::vector<std::uint32_t> devices) {
  Plan plan = SamplePlan({{"worker", 1}}, static_cast<std::uint32_t>(devices.size()));
  for (std::size_t host = 0; host < devices.size(); ++host) plan.hosts[host].devices = devices[host];
  return plan;
}

TEST(HostSlots, AreInitiallyTheNamedHosts) {
  Plan plan = PlanWith({8, 8});
  plan.hosts[1].name = "n2";
  const HostSlots slots(plan, {{"s1", "", 8}});
  EXPECT_EQ(slots.machines(), 3U);
  EXPECT_EQ(slots.machine(1), 1U);
  EXPECT_EQ(slots.host(1), 1U);
  EXPECT_EQ(slots.host(2), std::nullopt);
  EXPECT_EQ(slots.spares(), 1U);
  EXPECT_EQ(slots.name(0), "host0");
  EXPECT_EQ(slots.name(1), "n2");
  EXPECT_EQ(slots.name(2), "s1");
}

TEST(HostSlots, AreFilledByTheSmallestSpareThatIsLargeEnough) {
  HostSlots slots(PlanWith({4, 8}), {{"large", "", 16}, {"small", "", 2}, {"fit", "", 8}, {"fit2", "", 8}});
  EXPECT_EQ(slots.SpareFor(1), 4U);
  slots.Replace(1, 4);
  EXPECT_EQ(slots.machine(1), 4U);
  EXPECT_EQ(slots.host(4), 1U);
  EXPECT_EQ(slots.host(1), std::nullopt) << "who was replaced stands for nobody";
  EXPECT_EQ(slots.SpareFor(0), 5U) << "more devices than are needed will do";
  slots.Drop(5);
  EXPECT_EQ(slots.SpareFor(0), 2U);
  slots.Drop(2);
  EXPECT_EQ(slots.SpareFor(0), std::nullopt);
  EXPECT_EQ(slots.spares(), 1U);
}

TEST(HostSlots, UseAnySpareIfDevicesDoNotMatter) {
  HostSlots slots(PlanWith({0}), {{"s1", "", 0}, {"s2", "", 0}});
  EXPECT_EQ(slots.SpareFor(0), 1U);
}

}  // namespace
}  // namespace muster
