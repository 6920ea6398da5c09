// What breaks in a whole run on several hosts: the report names the host and the cause, and nothing is left on any host.
#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>
#include <sys/syscall.h>

#include "hosts/hosts_run.h"

namespace muster::testing {
namespace {

// --- what breaks while it runs ---------------------------------------------------------------------

TEST(ManyHosts, LoseOneWithoutPowerWithinTheLease) {
  SKIP_WITHOUT_BED();
  HostsBed bed(4);
  ASSERT_TRUE(bed.Up());
  HostsRun run(bed, Recipe(4, kSleepers), {"--host", "n[1-4]", "--host-lease", "2s"});
  ASSERT_TRUE(run.Await("process_started", 4)) << run.Result().err;
  ASSERT_TRUE(bed.PowerOff("n3"));
  EXPECT_EQ(run.Result().exit_code, 3);
  ASSERT_EQ(run.Journal("agent_lost").size(), 1U);
  EXPECT_EQ(run.Journal("agent_lost")[0]["host"], 2);
  EXPECT_EQ(run.Journal("agent_lost")[0]["why"], "nothing was heard of it for 2 s");
  EXPECT_EQ(run.Report()["outcome"], "lost");
  EXPECT_TRUE(ProcessesWith(run.token()).empty());
}

TEST(ManyHosts, EndOnBothSidesOfACableThatStaysCut) {
  SKIP_WITHOUT_BED();
  HostsBed bed(2);
  ASSERT_TRUE(bed.Up());
  HostsRun run(bed, Recipe(2, kSleepers), {"--host", "n[1-2]", "--host-lease", "2s"});
  ASSERT_TRUE(run.Await("process_started", 4)) << run.Result().err;
  ASSERT_TRUE(bed.Cut("n1"));
  EXPECT_EQ(run.Result().exit_code, 3);
  EXPECT_TRUE(ProcessesWith(run.token()).empty()) << "on n1, too, whose cable is still cut";
}

TEST(ManyHosts, EndWhenAnAgentIsKilled) {
  SKIP_WITHOUT_BED();
  HostsBed bed(2);
  ASSERT_TRUE(bed.Up());
  HostsRun run(bed, Recipe(2, kSleepers), {"--host", "n[1-2]"});
  ASSERT_TRUE(run.Await("process_started", 4)) << run.Result().err;
  for (const json& agent : run.Journal("agent_connected")) {
    if (agent["host"] != 1) continue;
    EXPECT_EQ(RunCommand({.argv = bed.On("n2", {"kill", "-KILL", agent["pid"].dump()})}).exit_code, 0);
  }
  EXPECT_EQ(run.Result().exit_code, 3);
  ASSERT_EQ(run.Journal("agent_lost").size(), 1U);
  EXPECT_NE(run.Journal("agent_lost")[0]["why"].get<std::string>().find("ended by signal 9 (SIGKILL)"),
            std::string::npos);
  EXPECT_TRUE(ProcessesWith(run.token()).empty());
}

TEST(ManyHosts, EndWhenTheHeadIsKilled) {
  SKIP_WITHOUT_BED();
  HostsBed bed(2);
  ASSERT_TRUE(bed.Up());
  HostsRun run(bed, Recipe(2, kSleepers), {"--host", "n[1-2]"});
  ASSERT_TRUE(run.Await("process_started", 4)) << run.Result().err;
  std::vector<UniqueFd> processes;
  for (const pid_t pid : ProcessesWith(run.token())) {
    processes.emplace_back(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));
  }
  ASSERT_EQ(processes.size(), 4U);
  ASSERT_EQ(::kill(run.Journal("run_began")[0]["pid"].get<pid_t>(), SIGKILL), 0);
  EXPECT_EQ(run.Result().exit_code, 128 + SIGKILL);
  for (const UniqueFd& process : processes) EXPECT_TRUE(AwaitReadable(process.get()));
}

}  // namespace
}  // namespace muster::testing
