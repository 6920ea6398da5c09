// Tests failures in whole runs inside an allocation of a real Slurm: the report names the node and the cause, a run
// continues where it can, and nothing remains on any node.
#include <csignal>
#include <filesystem>
#include <fstream>
#include <functional>
#include <sstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "slurm/slurm_run.h"
#include "wire/connection/dial.h"

namespace muster::testing {
namespace {

// Four processes, each with an orphan in a session of its own.
const char* const kOrphanEach =
    "    job:workers { count = 4, devices = 0, cwd = '/', command = muster.shell "
    "'setsid sleep 1000 > /dev/null 2>&1 & echo runs; sleep 1000' }";

// In which the first attempt runs until it is stopped, and later ones exit.
const char* const kRestarts =
    "    job:workers { count = 4, devices = 0, cwd = '/', restart = { max = 2, backoff = '100ms', scope = 'job' },\n"
    "      command = muster.shell 'echo runs; [ $MUSTER_ATTEMPT != 0 ] || exec sleep 1000' }";

Words HostsOfAttempts(const json& process) {
  Words hosts;
  for (const json& attempt : process["attempts"]) hosts.push_back(attempt["host"]);
  return hosts;
}

// Removes the cgroups of a node that was powered off: those of the testbed are this machine's.
void RemoveGroupsOf(const SlurmRun& run, int host) {
  for (const json& agent : run.Journal("agent_connected")) {
    if (agent["host"] == host) std::filesystem::remove(agent["cgroup"].get<std::string>());
  }
}

// --- nodes ----------------------------------------------------------------------------------------------

TEST(SlurmFaults, ANodeThatIsPoweredOffIsNamed) {
  SKIP_WITHOUT_SLURM();
  SlurmTestbed testbed(4);
  ASSERT_TRUE(testbed.Up());
  const HostsBefore before(testbed, {"n1", "n2", "n4"});
  SlurmRun run(testbed, Salloc({"--nodes=4"}), Recipe(4, kSleepers), {"--host-lease", "2s"});
  ASSERT_TRUE(run.Await("process_started", 4)) << run.Said();
  ASSERT_TRUE(testbed.PowerOff("n3"));
  EXPECT_EQ(run.Result().exit_code, 3) << run.Said();
  EXPECT_TRUE(run.Says("the agent of n3 was lost: no heartbeat for 2 s")) << run.Said();
  EXPECT_EQ(run.Report()["outcome"], "lost");
  RemoveGroupsOf(run, 2);
  before.ExpectNothingLeft(run);
}

TEST(SlurmFaults, ASpareNodeReplacesOneThatIsPoweredOff) {
  SKIP_WITHOUT_SLURM();
  SlurmTestbed testbed(4);
  ASSERT_TRUE(testbed.Up());
  const HostsBefore before(testbed, {"n1", "n3", "n4"});
  SlurmRun run(testbed, Salloc({"--nodes=4", "--no-kill"}), Recipe(3, kRestarts), {"--host-lease", "2s"});
  ASSERT_TRUE(run.Await("first_output", 4)) << run.Said();
  ASSERT_TRUE(testbed.PowerOff("n2"));
  EXPECT_EQ(run.Result().exit_code, 0) << run.Said();
  EXPECT_TRUE(run.Says("n4 replaced n2, which was lost: no heartbeat for 2 s")) << run.Said();
  const json report = run.Report();
  EXPECT_EQ(report["outcome"], "ok");
  EXPECT_EQ(report["replacements"][0]["by"], "n4");
  EXPECT_EQ(HostsOfAttempts(report["processes"][2]), (Words{"n2", "n4"})) << report["processes"];
  RemoveGroupsOf(run, 1);
  before.ExpectNothingLeft(run);
}

TEST(SlurmFaults, ACutThatIsShorterThanTheLeaseIsSurvived) {
  SKIP_WITHOUT_SLURM();
  SlurmTestbed testbed(4);
  ASSERT_TRUE(testbed.Up());
  const NodesBefore before(testbed, 4);
  SlurmRun run(testbed, Salloc({"--nodes=4"}), UntilFile(testbed, 4), {"--host-lease", "60s"});
  ASSERT_TRUE(run.Await("first_output", 4)) << run.Said();
  ASSERT_TRUE(testbed.Cut("n2"));
  const UniqueFd head = PidFd(run.Journal("run_began")[0]["pid"].get<pid_t>());
  EXPECT_FALSE(AwaitReadable(head.get(), std::chrono::seconds(2))) << "it waits for n2";
  LetEnd(testbed);
  ASSERT_TRUE(testbed.Heal("n2"));
  EXPECT_EQ(run.Result().exit_code, 0) << run.Said();
  EXPECT_TRUE(run.Journal("agent_lost").empty());
  before.ExpectNothingLeft(run);
}

TEST(SlurmFaults, BothSidesOfACutThatIsLongerThanTheLeaseStop) {
  SKIP_WITHOUT_SLURM();
  SlurmTestbed testbed(2);
  ASSERT_TRUE(testbed.Up());
  const NodesBefore before(testbed, 2);
  SlurmRun run(testbed, Salloc({"--nodes=2", "--no-kill"}), Recipe(2, kSleepers), {"--host-lease", "2s"});
  ASSERT_TRUE(run.Await("process_started", 4)) << run.Said();
  ASSERT_TRUE(testbed.Cut("n2"));
  EXPECT_EQ(run.Result().exit_code, 3) << run.Said();
  EXPECT_TRUE(ProcessesWith(run.token()).empty()) << "on n2, too, whose cable is still cut";
  EXPECT_TRUE(run.Says("the agent of n2 was lost: no heartbeat for 2 s")) << run.Said();
  ASSERT_TRUE(testbed.Heal("n2"));
  before.ExpectNothingLeft(run);
}

// A tenth of a second each way, for one node from the beginning and for another in the middle.
TEST(SlurmFaults, ASlowNetworkDelaysARunAndNothingElse) {
  SKIP_WITHOUT_SLURM();
  SlurmTestbed testbed(4);
  ASSERT_TRUE(testbed.Up());
  const NodesBefore before(testbed, 4);
  ASSERT_TRUE(testbed.Slow("n3"));
  SlurmRun run(testbed, Salloc({"--nodes=4"}), UntilFile(testbed, 4), {"--host-lease", "10s"});
  ASSERT_TRUE(run.Await("first_output", 4)) << run.Said();
  std::vector<std::uint64_t> errors(4);
  for (const json& compared : run.Journal("clock_compared")) errors.at(compared["host"]) = compared["error_ns"];
  EXPECT_GE(errors[2], 90'000'000U) << "half of a round trip to n3";
  ASSERT_TRUE(testbed.Slow("n2"));
  LetEnd(testbed);
  EXPECT_EQ(run.Result().exit_code, 0) << run.Said();
  EXPECT_TRUE(run.Journal("agent_lost").empty());
  EXPECT_EQ(run.Report()["receipt"]["reaped"], 4);
  before.ExpectNothingLeft(run);
}

// --- Slurm ----------------------------------------------------------------------------------------------

TEST(SlurmFaults, ScancelStopsTheRunAndLeavesNothing) {
  SKIP_WITHOUT_SLURM();
  for (const bool batch : {false, true}) {
    SCOPED_TRACE(batch ? "sbatch" : "salloc");
    SlurmTestbed testbed(4);
    ASSERT_TRUE(testbed.Up());
    const NodesBefore before(testbed, 4);
    SlurmRun run(testbed, batch ? Sbatch(testbed, {"--nodes=4"}) : Salloc({"--nodes=4"}),
                 Recipe(4,
                        "    job:workers { count = 4, devices = 0, cwd = '/', command = muster.shell "
                        "'setsid sleep 1000 > /dev/null 2>&1 & echo runs; sleep 1000' }"));
    ASSERT_TRUE(run.Await("first_output", 4)) << run.Said();
    EXPECT_EQ(testbed.Ask({"scancel", run.Job()}), "");
    EXPECT_NE(run.Result().exit_code, 0);
    before.ExpectNothingLeft(run);
    // scancel signals the processes as well as the head: the report names the signal, or a process that it reached
    // first.
    const CommandResult report = RunCommand({.argv = {MusterProgram(), "report", run.run_dir()}});
    EXPECT_TRUE(report.out.find("SIGTERM") != std::string::npos || report.out.find("code 143") != std::string::npos)
        << report.out << report.err << run.Said();
  }
}

TEST(SlurmFaults, RestartsOfItsDaemonsDoNotAffectARun) {
  SKIP_WITHOUT_SLURM();
  SlurmTestbed testbed(4);
  ASSERT_TRUE(testbed.Up());
  const NodesBefore before(testbed, 4);
  SlurmRun run(testbed, Salloc({"--nodes=4"}), UntilFile(testbed, 4));
  ASSERT_TRUE(run.Await("first_output", 4)) << run.Said();
  ASSERT_TRUE(testbed.StopDaemon("ctl"));
  ASSERT_TRUE(testbed.StartDaemon("ctl"));
  ASSERT_TRUE(testbed.CrashDaemon("n2"));
  ASSERT_TRUE(testbed.CrashDaemon("ctl"));
  ASSERT_TRUE(testbed.StartDaemon("ctl"));
  LetEnd(testbed);
  EXPECT_EQ(run.Result().exit_code, 0) << run.Said();
  EXPECT_TRUE(run.Journal("agent_lost").empty());
  EXPECT_EQ(run.Report()["receipt"]["reaped"], 4);
}

// --- causes that Slurm knows ----------------------------------------------------------------------------

TEST(SlurmFaults, ADrainedNodeServesItsRunAndIsNamedWithSlurmsReasonWhenItIsLost) {
  SKIP_WITHOUT_SLURM();
  SlurmTestbed testbed(4);
  ASSERT_TRUE(testbed.Up());
  const HostsBefore before(testbed, {"n1", "n2", "n4"});
  SlurmRun run(testbed, Salloc({"--nodes=4"}), Recipe(4, kSleepers), {"--host-lease", "2s"});
  ASSERT_TRUE(run.Await("process_started", 4)) << run.Said();
  EXPECT_EQ(testbed.Ask({"scontrol", "update", "node=n3", "state=drain", "reason=a disk fails"}), "");
  ASSERT_TRUE(testbed.AwaitNode("n3", "drng"));
  EXPECT_TRUE(run.Journal("agent_lost").empty());
  ASSERT_TRUE(testbed.PowerOff("n3"));
  EXPECT_EQ(run.Result().exit_code, 3) << run.Said();
  const json report = run.Report();
  EXPECT_EQ(report["outcome"], "lost");
  // With a '*' if Slurm has noticed that it is gone.
  const std::string why = report["why"];
  EXPECT_TRUE(why.starts_with("the agent of n3 was lost: no heartbeat for 2 s; slurm reports n3 as draining")) << why;
  EXPECT_NE(why.find("(a disk fails)"), std::string::npos) << why;
  EXPECT_EQ(run.Journal("engine_answered").at(0)["host"], "n3");
  RemoveGroupsOf(run, 2);
  before.ExpectNothingLeft(run);
}

// What ends a job of Slurm, and what the report says then.
struct EndOfJob {
  std::string name;
  std::function<void(const SlurmTestbed& testbed, const std::string& job)> end;
  std::string why;
  std::string state;  // of the job, once Slurm has ended everything of it
};
void PrintTo(const EndOfJob& end, std::ostream* out) { *out << end.name; }

class SlurmEnds : public ::testing::TestWithParam<EndOfJob> {};

INSTANTIATE_TEST_SUITE_P(Slurm, SlurmEnds,
                         ::testing::Values(EndOfJob{"scancel",
                                                    [](const SlurmTestbed& testbed, const std::string& job) {
                                                      EXPECT_EQ(testbed.Ask({"scancel", job}), "");
                                                    },
                                                    "slurm job 1 was cancelled", "CANCELLED"},
                                           EndOfJob{"preemption",
                                                    [](const SlurmTestbed& testbed, const std::string&) {
                                                      testbed.Ask({"sbatch", "--partition=urgent", "--nodes=4",
                                                                   "--exclusive", "--output=/dev/null", "--wrap=true"});
                                                    },
                                                    "slurm job 1 was preempted", "PREEMPTED"}),
                         [](const auto& one) { return one.param.name; });

TEST_P(SlurmEnds, TheReportNamesTheCauseAndNothingIsLeft) {
  SKIP_WITHOUT_SLURM();
  SlurmTestbed testbed(4);
  ASSERT_TRUE(testbed.Up());
  const NodesBefore before(testbed, 4);
  SlurmRun run(testbed, Sbatch(testbed, {"--nodes=4", "--no-requeue"}), Recipe(4, kOrphanEach));
  ASSERT_TRUE(run.Await("first_output", 4)) << run.Said();
  const std::string job = run.Job();
  GetParam().end(testbed, job);
  // `sbatch --wait` does not wait for the nodes: the job can be COMPLETING.
  EXPECT_TRUE(testbed.AwaitJob(job, GetParam().state));
  before.ExpectNothingLeft(run);
  // The exit code of `sbatch --wait` can be 0 then: only the report is trusted. Slurm signals agents and head at the
  // same time: the end of an agent may come first.
  const json report = run.Report();
  EXPECT_NE(report["exit_code"], 0) << report.dump(2);
  // Which cause it was is only known if srun writes it before it ends.
  const std::string why = report["why"];
  EXPECT_TRUE(why.ends_with("; " + GetParam().why) || why.ends_with("; slurm is ending job 1")) << why << run.Said();
}

// Slurm announces the end of a job up to a minute before the notice that was asked for: here within half a minute.
TEST(SlurmFaults, TheNoticeOfATimeLimitIsAGracefulStopWithACheckpoint) {
  SKIP_WITHOUT_SLURM();
  SlurmTestbed testbed(2);
  ASSERT_TRUE(testbed.Up());
  const NodesBefore before(testbed, 2);
  const std::string checkpoints = testbed.folder() + "/checkpoints";
  std::filesystem::create_directory(checkpoints);
  SlurmRun run(testbed, Sbatch(testbed, {"--nodes=2", "--time=1", "--signal=B:TERM@59"}),
               "local muster = require 'muster'\nreturn muster.recipe { name = 'job', framework = 'none',\n"
               "  checkpoint = { dir = '" +
                   checkpoints +
                   "', latest = 'step_*', signal = 'USR1' },\n"
                   "  plan = function(p, job)\n    job:workers { per_host = 1, devices = 0, cwd = '/', command = "
                   "muster.shell [[\n      trap 'echo asked; [ $MUSTER_RANK = 1 ] || echo 7 > " +
                   checkpoints +
                   "/step_7' USR1\n      setsid sleep 1000 > /dev/null 2>&1 &\n      echo runs\n"
                   "      while :; do wait; done ]] }\n  end }\n");
  ASSERT_TRUE(run.Await("first_output", 2)) << run.Said();
  run.Result();
  before.ExpectNothingLeft(run);
  const std::string why = run.Report()["why"];
  EXPECT_TRUE(why.starts_with("ended by SIGTERM; slurm job 1 reaches its time limit in ")) << why << run.Said();
  EXPECT_EQ(ContentOf(checkpoints + "/step_7"), "7\n");
  EXPECT_EQ(run.Journal("checkpoint_seen").size(), 1U);
  EXPECT_EQ(run.Report()["outcome"], "stopped");
}

// --- the head -------------------------------------------------------------------------------------------

TEST(SlurmFaults, NothingIsLeftOfARunWhoseHeadIsKilled) {
  SKIP_WITHOUT_SLURM();
  for (const bool batch : {false, true}) {
    SCOPED_TRACE(batch ? "sbatch" : "salloc");
    SlurmTestbed testbed(4);
    ASSERT_TRUE(testbed.Up());
    const HostsBefore before(testbed, NodeNames(4));
    SlurmRun run(testbed, batch ? Sbatch(testbed, {"--nodes=4"}) : Salloc({"--nodes=4"}),
                 Recipe(4,
                        "    job:workers { count = 4, devices = 0, cwd = '/', command = muster.shell "
                        "'setsid sleep 1000 > /dev/null 2>&1 & echo runs; sleep 1000' }"));
    ASSERT_TRUE(run.Await("first_output", 4)) << run.Said();
    std::vector<UniqueFd> processes;
    for (const pid_t pid : ProcessesWith(run.token())) processes.push_back(PidFd(pid));
    EXPECT_GE(processes.size(), 8U);
    const std::string head = run.Journal("run_began")[0]["pid"].dump();
    EXPECT_EQ(
        RunCommand({.argv = batch ? testbed.On("n1", {"kill", "-KILL", head}) : testbed.Login({"kill", "-KILL", head})})
            .exit_code,
        0);
    run.Result();  // salloc and sbatch --wait do not pass on that a signal ended their command
    for (const UniqueFd& process : processes) EXPECT_TRUE(AwaitReadable(process.get()));
    before.ExpectNothingLeft(run);
  }
}

// Somebody on a node who knows the port and the name of a node, and not the token.
TEST(SlurmFaults, AForeignConnectionIsRefusedAndDoesNotAffectARun) {
  SKIP_WITHOUT_SLURM();
  SlurmTestbed testbed(3);
  ASSERT_TRUE(testbed.Up());
  const NodesBefore before(testbed, 3);
  SlurmRun run(testbed, Salloc({"--nodes=3"}), UntilFile(testbed, 3));
  ASSERT_TRUE(run.Await("first_output", 4)) << run.Said();
  // The head has the only socket for IPv6 that listens there; its column is the fourth.
  std::istringstream listening(testbed.Ask({"ss", "-6tlnH"}));
  std::string column;
  for (int i = 0; i < 4; ++i) listening >> column;
  ASSERT_NE(column.rfind(':'), std::string::npos) << listening.str();
  const std::string id(32, 'a');
  const std::string forged = testbed.folder() + "/forged";
  std::ofstream(forged) << DialFileText(
      {.session = id,
       .token = id,
       .addresses = {{"10.77.0.254", static_cast<std::uint16_t>(std::stoi(column.substr(column.rfind(':') + 1)))}},
       .node_variable = "SLURMD_NODENAME"});
  std::filesystem::permissions(forged, std::filesystem::perms::owner_read | std::filesystem::perms::owner_write);
  const CommandResult outsider =
      RunCommand({.argv = testbed.On("n2", {"env", "SLURMD_NODENAME=n2", "timeout", "-s", "KILL", "3",
                                            std::string(MUSTER_BIN_DIR) + "/muster-agent", "--dial", forged})});
  EXPECT_EQ(outsider.exit_code, 128 + SIGKILL) << "it keeps trying: " << outsider.err;
  EXPECT_EQ(run.Journal("agent_connected").size(), 3U);
  LetEnd(testbed);
  EXPECT_EQ(run.Result().exit_code, 0) << run.Said();
  EXPECT_TRUE(run.Journal("agent_lost").empty());
  before.ExpectNothingLeft(run);
}

}  // namespace
}  // namespace muster::testing
