#include "base/system/fault.h"

#include <gtest/gtest.h>

#include "base/system/mechanism.h"

namespace muster {
namespace {

TEST(Faults, AreReadWithSiteActionAndNumber) {
  const auto order = ParseFault("agent.before_reap:fail:2");
  ASSERT_TRUE(order) << order.error();
  EXPECT_EQ(order->site, Fault::kAgentBeforeReap);
  EXPECT_EQ(order->action, FaultAction::kFail);
  EXPECT_EQ(order->number, 2U);
}

TEST(Faults, AreRefusedWithAReason) {
  for (const auto& [text, why] : {std::pair{"agent.before_reap", "SITE:ACTION:N"},
                                  {"agent.before_rep:fail:1", "did you mean \"agent.before_reap\""},
                                  {"agent.before_reap:explode:1", "delay, fail or kill"},
                                  {"agent.before_reap:fail:0", "1 or more"},
                                  {"agent.before_reap:delay:1s", "milliseconds"},
                                  {"", "SITE:ACTION:N"}}) {
    const auto order = ParseFault(text);
    ASSERT_FALSE(order) << text;
    EXPECT_NE(order.error().find(why), std::string::npos) << order.error();
  }
}

TEST(Faults, FireOnlyAtTheirSiteAndPass) {
  EXPECT_FALSE(FailsHere(Fault::kHeadBeforeStop));
  ArmFault({Fault::kHeadBeforeStop, FaultAction::kFail, 2});
  EXPECT_FALSE(FailsHere(Fault::kHeadBeforeStart));
  EXPECT_FALSE(FailsHere(Fault::kHeadBeforeStop));
  EXPECT_TRUE(FailsHere(Fault::kHeadBeforeStop));
  EXPECT_FALSE(FailsHere(Fault::kHeadBeforeStop));
}

TEST(Mechanisms, AreReadByTheirNames) {
  const auto without = ParseWithout("cgroup,pidfd");
  ASSERT_TRUE(without);
  EXPECT_TRUE(without->Has(Mechanism::kPidfd));
  EXPECT_TRUE(without->Has(Mechanism::kCgroup));
  EXPECT_FALSE(without->Has(Mechanism::kSeccomp));
  EXPECT_EQ(WithoutText(*without), "pidfd,cgroup");
  EXPECT_TRUE(ParseWithout("")->empty());
  EXPECT_EQ(ParseWithout("pidfd,pdfd").error(), "pdfd");
}

}  // namespace
}  // namespace muster
