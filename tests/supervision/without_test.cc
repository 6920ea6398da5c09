// Tests whole runs, each without one kernel mechanism: the outcome is the same, and the substitute is named.
#include "base/system/mechanism.h"
#include "supervision/started_muster.h"

namespace muster::testing {
namespace {

class WithoutOne : public ::testing::TestWithParam<MechanismFact> {};

INSTANTIATE_TEST_SUITE_P(Each, WithoutOne, ::testing::ValuesIn(kMechanismFacts),
                         [](const auto& one) { return std::string(one.param.name); });

bool Has(const nlohmann::json& list, const std::string& word) {
  return std::find(list.begin(), list.end(), word) != list.end();
}

TEST_P(WithoutOne, StopsEverythingAndNamesTheSubstitute) {
  StartedMuster muster(R"(
    job:role "daemon" { count = 2, ready = { line = "up" }, stop = { grace = "200ms" },
                        command = { probe, "session", "daemon", "print", "up", "wait" } }
    job:workers { count = 1, after = { "daemon" }, command = { probe, "env", "exit", "3" } })");
  const std::string name(GetParam().name);
  muster.Start({"--without=" + name});
  EXPECT_EQ(muster.End(), 1) << muster.Output();
  EXPECT_TRUE(muster.Left().empty());
  EXPECT_EQ(KillDescendants({}).killed, 0U);

  ASSERT_EQ(muster.Journal("agent_connected").size(), 1U);
  const auto used = muster.Journal("agent_connected")[0]["mechanisms"];
  const auto lockdown = muster.Journal("run_began")[0]["lockdown"];
  ASSERT_EQ(muster.Journal("agent_empty").size(), 1U);
  const auto by = muster.Journal("agent_empty")[0]["by"];
  EXPECT_FALSE(Has(used, name)) << used;
  EXPECT_FALSE(Has(lockdown, name)) << lockdown;
  if (name == "pidfd") {
    EXPECT_TRUE(Has(used, "sigchld") && Has(by, "sigchld")) << used << by;
  }
  if (name == "close_range") {
    EXPECT_TRUE(Has(used, "proc-fd") && Has(used, "copied-files")) << used;
  }
  if (name == "clone_files") {
    EXPECT_TRUE(Has(used, "copied-files")) << used;
  }
  if (name == "seccomp") {
    EXPECT_TRUE(Has(lockdown, "fd-limit")) << lockdown;
  }
  if (name == "cgroup") {
    EXPECT_TRUE(!Has(by, "cgroup.kill") && Has(by, "children")) << by;
  }
  if (name == "clone_cgroup") {
    const bool grouped = !muster.Journal("agent_connected")[0]["cgroup"].get<std::string>().empty();
    EXPECT_EQ(Has(used, "cgroup-entered"), grouped) << used;
    EXPECT_FALSE(Has(used, "cgroup")) << used;
  }
  EXPECT_EQ(StartedMuster::Content(muster.run_dir() + "/logs/worker.0.0.log").find(kWithoutVariable),
            std::string::npos);
}

TEST(Without, TheVariableIsNotPassedOn) {
  StartedMuster muster("job:workers { count = 1, command = { probe, 'env', 'exit', '0' } }");
  Command command;
  command.argv = {MusterProgram(), "run", "recipe.lua", "--run-dir", muster.run_dir(), "--quiet"};
  command.env.push_back(std::string(kWithoutVariable) + "=close_range");
  command.cwd = muster / ".";
  const CommandResult result = RunCommand(command);
  EXPECT_EQ(result.exit_code, 0) << result.err;
  const std::string log = StartedMuster::Content(muster.run_dir() + "/logs/worker.0.0.log");
  EXPECT_NE(log.find("MUSTER_RUN_ID"), std::string::npos) << log;
  EXPECT_EQ(log.find(kWithoutVariable), std::string::npos) << log;
  EXPECT_TRUE(Has(muster.Journal("agent_connected")[0]["mechanisms"], "proc-fd"));
}

TEST(Without, AnUnknownMechanismIsRefused) {
  StartedMuster muster("job:workers { count = 1, command = { probe, 'exit', '0' } }");
  const CommandResult result = muster.Muster({"run", "recipe.lua", "--without=pidfd,cgruop"});
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_NE(result.err.find("there is no \"cgruop\""), std::string::npos) << result.err;
}

}  // namespace
}  // namespace muster::testing
