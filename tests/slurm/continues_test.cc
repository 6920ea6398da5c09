// Tests submitted runs in a real Slurm that are given notice, paused, or lose a node beside the head's: they write
// their checkpoint, wait, or continue in another attempt, and the report names the cause.
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "slurm/submitted_run.h"

namespace muster::testing {
namespace {

// Two workers; rank 0 writes step_1 at its start and step_2 on SIGUSR1. A run that is resumed says from where, and
// ends.
std::string SavesOnRequest(const std::string& slurm, int hosts = 2) {
  return "local muster = require 'muster'\nreturn muster.recipe { name = 'job', doc = 'a job', framework = 'none', " +
         slurm + "\n  cluster = { hosts = " + std::to_string(hosts) +
         ", devices_per_host = 1 },\n"
         "  checkpoint = { dir = 'checkpoints', latest = 'step_*.pt', signal = 'USR1', wait = '60s' },\n"
         "  plan = function(p, job)\n    job:workers { count = 2, devices = 0, stop = { grace = '2s' }, command =\n"
         "      job.resume and { 'echo', 'from', job.resume.checkpoint } or\n"
         "      { 'sh', '-c', 'save() { [ $MUSTER_RANK != 0 ] || { mkdir -p $D; echo $1 > $D/s; mv $D/s $D/step_$1.pt; "
         "}; };"
         " trap \"save 2\" USR1; trap \"\" TERM; D=$0; save 1; echo runs;"
         " while :; do sleep 1000 & wait; done', job.checkpoint.dir } }\n"
         "  end }\n";
}

// How a partition with a grace time ends the jobs that an urgent one preempts.
struct Grace {
  const char* name;
  const char* mode;
  int nodes;  // of the run; on one of them the head, which Slurm does not signal
  int seconds;
};
class PreemptedWithGrace : public ::testing::TestWithParam<Grace> {};

INSTANTIATE_TEST_SUITE_P(Slurm, PreemptedWithGrace,
                         ::testing::Values(Grace{"REQUEUE", "REQUEUE", 2, 5}, Grace{"CANCEL", "CANCEL", 2, 20},
                                           Grace{"OneNode", "REQUEUE", 1, 5}),
                         [](const auto& one) { return std::string(one.param.name); });

TEST_P(PreemptedWithGrace, ARunWritesItsCheckpointAndContinuesFromIt) {
  SKIP_WITHOUT_SLURM();
  const int nodes = GetParam().nodes;
  SlurmTestbed testbed(nodes, {"--partition",
                               "main Default=YES PriorityTier=1 GraceTime=" + std::to_string(GetParam().seconds) +
                                   " PreemptMode=" + GetParam().mode,
                               "--partition", "urgent PriorityTier=10 PreemptMode=OFF"});
  ASSERT_TRUE(testbed.Up());
  const NodesBefore before(testbed, nodes);
  SubmittedRun run(testbed, SavesOnRequest("slurm = { requeue = { on = { 'preempted' }, max = 1 } },", nodes), {});
  ASSERT_TRUE(run.Await("first_output", 2)) << run.Said();
  testbed.Ask({"sbatch", "--partition=urgent", "--nodes=" + std::to_string(nodes), "--exclusive", "--output=/dev/null",
               "--wrap=true"});
  EXPECT_EQ(run.Result().exit_code, 0) << run.Said();
  const json first = run.ReportNow(1);
  EXPECT_EQ(first["outcome"], "stopped") << first;
  EXPECT_EQ(first["why"], "ended by SIGTERM; slurm job 1 was preempted");
  EXPECT_TRUE(first["no_checkpoint"].is_null()) << first["no_checkpoint"];
  EXPECT_EQ(first["receipt"]["left"], 0);
  const json second = run.ReportNow(2);
  EXPECT_EQ(second["outcome"], "ok") << second;
  EXPECT_EQ(second["job"]["attempts"][0]["end"], "preempted") << second["job"];
  EXPECT_EQ(ContentOf(run.DirectoryOf(2) + "/logs/worker.0.0.log"),
            "from " + run.run_dir() + "/checkpoints/step_2.pt\n");
  before.ExpectNothingLeft(run);
}

TEST(Continues, ARunThatLosesANodeBesideItsHeads) {
  SKIP_WITHOUT_SLURM();
  SlurmTestbed testbed(3, {"--slurm", "SlurmdTimeout=5"});
  ASSERT_TRUE(testbed.Up());
  SubmittedRun run(testbed, SavesOnRequest("slurm = { requeue = { on = { 'node_fail' }, max = 1 } },"),
                   {"--host-lease", "2s"});
  ASSERT_TRUE(run.Await("first_output", 2)) << run.Said();
  ASSERT_TRUE(testbed.PowerOff("n2"));
  EXPECT_EQ(run.Result().exit_code, 0) << run.Said();
  const json second = run.ReportNow(2);
  EXPECT_EQ(second["outcome"], "ok") << second;
  EXPECT_EQ(second["job"]["attempts"][0]["end"], "node_fail") << second["job"];
  EXPECT_EQ(ContentOf(run.DirectoryOf(2) + "/logs/worker.0.0.log"),
            "from " + run.run_dir() + "/checkpoints/step_1.pt\n");
  EXPECT_NE(run.Muster({"report", run.DirectoryOf(1)}).out.find("slurm job 1, attempt 1 of 2; it lost its node n2"),
            std::string::npos)
      << run.Muster({"report", run.DirectoryOf(1)}).out;
}

// scontrol returns before slurmctld has requeued the job: a head that ended then would end the job with its exit code.
TEST(Continues, ARunWhoseRequeueTakesALittleTime) {
  SKIP_WITHOUT_SLURM();
  SlurmTestbed testbed(2);
  ASSERT_TRUE(testbed.Up());
  const NodesBefore before(testbed, 2);
  const std::string programs = testbed.folder() + "/bin";
  std::filesystem::create_directory(programs);
  std::ofstream(programs + "/scontrol") << "#!/bin/sh\n[ \"$1\" = requeue ] || exec /usr/bin/scontrol \"$@\"\n"
                                           "(sleep 2; exec /usr/bin/scontrol \"$@\") > /dev/null 2>&1 &\n";
  std::filesystem::permissions(programs + "/scontrol", std::filesystem::perms::owner_all);
  SubmittedRun run(testbed, SavesOnRequest("slurm = { requeue = { on = { 'time_limit' }, max = 1 } },"), {},
                   {"env", "PATH=" + programs + ":/usr/bin:/bin"});
  ASSERT_TRUE(run.Await("first_output", 2)) << run.Said();
  EXPECT_EQ(testbed.Ask({"scancel", "--batch", "--signal=USR1", "1"}), "");
  EXPECT_EQ(run.Result().exit_code, 0) << run.Said();
  const json second = run.ReportNow(2);
  EXPECT_EQ(second["outcome"], "ok") << second;
  EXPECT_EQ(second["job"]["attempts"][0]["end"], "time_limit") << second["job"];
  EXPECT_EQ(ContentOf(run.DirectoryOf(2) + "/logs/worker.0.0.log"),
            "from " + run.run_dir() + "/checkpoints/step_2.pt\n");
  before.ExpectNothingLeft(run);
}

// A job on two nodes whose workers do this with their shell.
std::string Failing(const std::string& what, int max) {
  return "local muster = require 'muster'\nreturn muster.recipe { name = 'job', doc = 'a job', framework = 'none',\n"
         "  slurm = { requeue = { on = { 'failed' }, max = " +
         std::to_string(max) +
         " } },\n  cluster = { hosts = 2, devices_per_host = 1 },\n"
         "  plan = function(p, job)\n    job:workers { count = 2, devices = 0, command = muster.shell '" +
         what + "' }\n  end }\n";
}

TEST(Continues, ARunThatFailedWithoutTheHostThatItFailedOn) {
  SKIP_WITHOUT_SLURM();
  SlurmTestbed testbed(3);
  ASSERT_TRUE(testbed.Up());
  SubmittedRun run(testbed, Failing("[ $MUSTER_HOST != n2 ] || { echo broken; exit 3; }", 5), {});
  EXPECT_EQ(run.Result().exit_code, 0) << run.Said();
  const json third = run.ReportNow(3);
  EXPECT_EQ(third["outcome"], "ok") << third;
  EXPECT_EQ(HostsOf(third, "worker"), (std::set<std::string>{"n1", "n3"}));
  const json& attempts = third["job"]["attempts"];
  ASSERT_EQ(attempts.size(), 3U) << attempts;
  EXPECT_EQ(attempts[0]["end"], "failed");
  EXPECT_EQ(attempts[0]["verdict"], "restart") << attempts[0];
  EXPECT_EQ(attempts[1]["verdict"], "exclude_host") << attempts[1];
  EXPECT_EQ(attempts[1]["excluded"], "n2");
  EXPECT_FALSE(attempts[2].contains("verdict")) << attempts[2];
  const std::string text = run.Muster({"report", run.DirectoryOf(1)}).out;
  EXPECT_NE(text.find("none on the other hosts; without n2 from then on"), std::string::npos) << text;
}

TEST(Continues, ARunThatFailsInTheSameWayOnlyOnce) {
  SKIP_WITHOUT_SLURM();
  SlurmTestbed testbed(2);
  ASSERT_TRUE(testbed.Up());
  SubmittedRun run(
      testbed,
      Failing(
          "for i in 5 6 7; do echo \\'{\"step\": \\'$i\\'}\\' >> \"$MUSTER_METRICS\"; done; echo no such token; exit 3",
          5),
      {});
  EXPECT_EQ(run.Result().exit_code, 1) << run.Said();
  const json second = run.ReportNow(2);
  EXPECT_EQ(second["outcome"], "failed") << second;
  const json& attempts = second["job"]["attempts"];
  ASSERT_EQ(attempts.size(), 2U) << attempts;
  EXPECT_EQ(attempts[1]["verdict"], "stop") << attempts[1];
  EXPECT_EQ(attempts[1]["requeued"], false);
  EXPECT_NE(run.Muster({"report", run.DirectoryOf(2)}).out.find("the same failure happened 2 times at step 7"),
            std::string::npos)
      << run.Muster({"report", run.DirectoryOf(2)}).out;
}

// The head of an interactive allocation goes on while the agents are stopped.
TEST(Continues, ARunWhoseAllocationIsSuspended) {
  SKIP_WITHOUT_SLURM();
  SlurmTestbed testbed(2);
  ASSERT_TRUE(testbed.Up());
  const NodesBefore before(testbed, 2);
  SlurmRun run(testbed, Salloc({"--nodes=2"}), UntilFile(testbed, 2), {"--host-lease", "3s"});
  ASSERT_TRUE(run.Await("first_output", 4)) << run.Said();
  EXPECT_EQ(testbed.Ask({"scontrol", "suspend", run.Job()}), "");
  ASSERT_TRUE(run.Await("engine_answered", 1)) << run.Said();
  EXPECT_EQ(run.Journal("engine_answered")[0]["what"], "slurm job 1 is suspended");
  EXPECT_EQ(testbed.Ask({"scontrol", "resume", run.Job()}), "");
  LetEnd(testbed);
  EXPECT_EQ(run.Result().exit_code, 0) << run.Said();
  EXPECT_TRUE(run.Journal("agent_lost").empty());
  before.ExpectNothingLeft(run);
}

TEST(Continues, ASubmittedRunThatIsSuspendedIsShownAsThat) {
  SKIP_WITHOUT_SLURM();
  SlurmTestbed testbed(2);
  ASSERT_TRUE(testbed.Up());
  const NodesBefore before(testbed, 2);
  SubmittedRun run(testbed, UntilFile(testbed, 2), {});
  ASSERT_TRUE(run.Await("first_output", 4)) << run.Said();
  EXPECT_EQ(testbed.Ask({"scontrol", "suspend", "1"}), "");
  ASSERT_TRUE(testbed.AwaitJob("1", "SUSPENDED"));
  const json listed = json::parse(run.Muster({"ps", "--json", run.run_dir()}).out, nullptr, false);
  EXPECT_EQ(listed["runs"][0]["phase"], "suspended") << listed;
  EXPECT_EQ(testbed.Ask({"scontrol", "resume", "1"}), "");
  LetEnd(testbed);
  EXPECT_EQ(run.Result().exit_code, 0) << run.Said();
  before.ExpectNothingLeft(run);
}

}  // namespace
}  // namespace muster::testing
