#include <gtest/gtest.h>

#include "explain/hidden_inputs.h"

namespace muster::testing {
namespace {

TEST(OwnNames, AreMatchedAsWholeWords) {
  EXPECT_TRUE(HoldsWord("tcp://build7:80", "build7"));
  EXPECT_TRUE(HoldsWord("build7", "build7"));
  EXPECT_TRUE(HoldsWord("build70 build7", "build7"));
  EXPECT_FALSE(HoldsWord("build70", "build7"));
  EXPECT_FALSE(HoldsWord("my-build7", "build7"));
  EXPECT_FALSE(HoldsWord("", "build7"));
}

TEST(OwnNames, AreFoundInAllInputsOfAProcessAndFoldedOverProcesses) {
  Plan plan;
  plan.hosts.push_back({"host0", 0, ""});
  Role role;
  role.name = "worker";
  role.command = {Text("train"), Text("--server=build7")};
  role.env["DATA"] = Text("/srv/build7/data");
  plan.roles.push_back(role);
  for (std::uint32_t i = 0; i < 3; ++i) {
    Process process;
    process.index = i;
    process.rank = i;
    plan.processes.push_back(process);
  }
  plan.processes[1].env["OWN"] = Text("build7");
  plan.derived["where"] = Value("build7");
  std::vector<std::string> found;
  for (const NameOccurrence& one : FindOwnNames(plan, {{"the name of this machine", "build7"}}, "/srv/recipes")) {
    found.push_back(one.where);
  }
  EXPECT_EQ(found, (std::vector<std::string>{"worker 0-2: variable DATA", "worker 1: variable OWN",
                                             "worker 0-2: word 2 of the command", "derived value where"}));
}

TEST(OwnNames, DoNotIncludeTheRecipesOwnFolder) {
  Plan plan;
  plan.derived["script"] = Value("/home/ada/recipes/train.py");
  plan.derived["data"] = Value("/home/ada/data");
  const auto found = FindOwnNames(plan, {{"the home folder", "/home/ada"}}, "/home/ada/recipes");
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].where, "derived value data");
}

}  // namespace
}  // namespace muster::testing
