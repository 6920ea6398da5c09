// Tests which variables of the agent's own environment processes inherit.
#include <cstdlib>

#include <gtest/gtest.h>

#include "agent/processes/child_set.h"

namespace muster {
namespace {

class HostVariablesOfAgent : public ::testing::Test {
 protected:
  void SetUp() override {
    for (const char* variable : kSet) ::setenv(variable, "here", 1);
  }
  void TearDown() override {
    for (const char* variable : kSet) ::unsetenv(variable);
  }

  static constexpr const char* kSet[] = {"OWN_ONE", "OWN_TWO", "OWN_THREE", "MUSTER_OWN"};
};

TEST_F(HostVariablesOfAgent, AreAddedUnlessTheHeadSetsThemOrLeavesThemOut) {
  EnvironmentBlock block = ByName({"OWN_TWO=of the head"});
  AddHostVariables({{"OWN_*", "MUSTER_OWN", "ABSENT"}, {"OWN_THREE"}}, block);
  EXPECT_EQ(block, (EnvironmentBlock{{"OWN_ONE", "OWN_ONE=here"}, {"OWN_TWO", "OWN_TWO=of the head"}}));
}

TEST_F(HostVariablesOfAgent, AreNoneWithoutASelection) {
  EnvironmentBlock block;
  AddHostVariables({}, block);
  EXPECT_TRUE(block.empty());
}

TEST_F(HostVariablesOfAgent, CanBeAll) {
  EnvironmentBlock block;
  AddHostVariables({{"*"}, {"OWN_T*"}}, block);
  EXPECT_EQ(block.count("OWN_ONE"), 1U);
  EXPECT_EQ(block.count("OWN_TWO") + block.count("OWN_THREE") + block.count("MUSTER_OWN"), 0U);
}

}  // namespace
}  // namespace muster
