// Tests runs that are submitted to a real Slurm from outside of an allocation: submission, following, commands from the
// login machine, stopping, and attempts after the end of an allocation.
#include <csignal>
#include <filesystem>
#include <fstream>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "slurm/submitted_run.h"
#include "support/check_ledger.h"

namespace muster::testing {
namespace {

const char* const kSleepsWithOrphan =
    "    job:workers { count = 4, devices = 0, cwd = '/', command = muster.shell "
    "'setsid sleep 1000 > /dev/null 2>&1 & echo runs; exec sleep 1000' }";

// Writes a checkpoint, and runs until it is stopped; with a checkpoint it says from which, and ends.
std::string WithCheckpoints(const std::string& slurm) {
  return "local muster = require 'muster'\nreturn muster.recipe { name = 'job', doc = 'a job', framework = 'none', " +
         slurm +
         "\n  cluster = { hosts = 2, devices_per_host = 1 }, checkpoint = { dir = 'checkpoints', latest = 'step_*.pt' "
         "},\n"
         "  plan = function(p, job)\n    job:workers { count = 2, devices = 0, stop = { grace = '2s' }, command =\n"
         "      job.resume and { 'echo', 'from', job.resume.run, job.resume.checkpoint } or\n"
         "      { 'sh', '-c', '[ $MUSTER_RANK != 0 ] || { mkdir -p $0 && echo 1 > $0/step_1.pt; }; echo runs; exec "
         "sleep 1000',\n"
         "        job.checkpoint.dir } }\n"
         "  end }\n";
}

// --- whole jobs -----------------------------------------------------------------------------------------

TEST(FromOutside, ARunNotifiesOnceFromItsJob) {
  SKIP_WITHOUT_SLURM();
  SlurmTestbed testbed(1);
  ASSERT_TRUE(testbed.Up());
  const std::string sent = testbed.folder() + "/sent";
  SubmittedRun run(testbed, Recipe(1, "    job:workers { count = 1, devices = 0, cwd = '/', command = { 'true' } }"),
                   {"--notify", "started,ended=sh -c 'cat >> " + sent + "'"});
  ASSERT_EQ(run.Result().exit_code, 0) << run.Said();
  std::vector<json> notices;
  for (const std::string& line : LinesOf(sent)) notices.push_back(json::parse(line, nullptr, false));
  ASSERT_EQ(notices.size(), 2U) << run.Said();
  EXPECT_EQ(notices[0].value("event", ""), "started");
  EXPECT_EQ(notices[1].value("event", ""), "ended");
  EXPECT_EQ(notices[1].value("job", ""), "slurm job 1");
  EXPECT_EQ(notices[1].value("host", ""), "n1");
}

TEST(FromOutside, ARunIsSubmittedAndFollowedToItsEnd) {
  SKIP_WITHOUT_SLURM();
  SlurmTestbed testbed(4);
  ASSERT_TRUE(testbed.Up());
  const NodesBefore before(testbed, 4);
  SubmittedRun run(testbed,
                   Recipe(4,
                          "    job:workers { count = 4, devices = 0, cwd = '/', command = muster.shell "
                          "'echo rank $MUSTER_RANK on $(hostname)' }"),
                   {});
  ASSERT_EQ(run.Result().exit_code, 0) << run.Said();
  EXPECT_NE(run.Result().err.find("submitted as slurm job 1"), std::string::npos) << run.Result().err;
  EXPECT_NE(run.Result().out.find("worker.3 | rank 3 on n4"), std::string::npos) << run.Result().out;
  const json report = run.Report();
  EXPECT_EQ(report["job"]["engine"], "slurm");
  EXPECT_EQ(report["job"]["id"], "1");
  EXPECT_EQ(run.JobId(), "1");
  before.ExpectNothingLeft(run);
}

TEST(FromOutside, TheFirstFailureIsTheExitCode) {
  SKIP_WITHOUT_SLURM();
  SlurmTestbed testbed(2);
  ASSERT_TRUE(testbed.Up());
  const NodesBefore before(testbed, 2);
  SubmittedRun run(testbed,
                   Recipe(2,
                          "    job:workers { count = 4, devices = 0, cwd = '/', command = muster.shell "
                          "'[ $MUSTER_RANK != 2 ] || exit 7; setsid sleep 1000 & exec sleep 1000' }"),
                   {"--pass-exit-code"});
  EXPECT_EQ(run.Result().exit_code, 7) << run.Said();
  EXPECT_TRUE(run.Says("worker.2 (rank 2) on n2 exited with code 7")) << run.Said();
  before.ExpectNothingLeft(run);
}

TEST(FromOutside, ParameterServersTrain) {
  SKIP_WITHOUT_SLURM();
  SlurmTestbed testbed(4);
  ASSERT_TRUE(testbed.Up());
  const NodesBefore before(testbed, 4);
  SubmittedRun run(testbed, RecipeFile{"recipes/parameter_server.lua"}, {"hosts=4"});
  ASSERT_EQ(run.Result().exit_code, 0) << run.Said();
  EXPECT_EQ(HostsOf(run.Report(), "worker").size(), 4U);
  EXPECT_NE(run.Log("worker.0").find("test accuracy 0.9"), std::string::npos) << run.Log("worker.0");
  before.ExpectNothingLeft(run);
}

TEST(FromOutside, TorchTrainsWithDistributedDataParallel) {
  SKIP_WITHOUT_SLURM();
  if (RunCommand({.argv = {"/usr/bin/python3", "-c", "import torch"}}).exit_code != 0) GTEST_SKIP() << "no PyTorch";
  SlurmTestbed testbed(2);
  ASSERT_TRUE(testbed.Up());
  const NodesBefore before(testbed, 2);
  SubmittedRun run(testbed, RecipeFile{"recipes/torch_ddp.lua"},
                   {"hosts=2", "devices_per_host=1", "workers=2", "epochs=2"});
  ASSERT_EQ(run.Result().exit_code, 0) << run.Said();
  EXPECT_EQ(HostsOf(run.Report(), "worker"), (std::set<std::string>{"n1", "n2"}));
  before.ExpectNothingLeft(run);
}

// --- from the login machine -----------------------------------------------------------------------------

TEST(FromOutside, AQueuedRunIsShownAndCancelled) {
  SKIP_WITHOUT_SLURM();
  SlurmTestbed testbed(2);
  ASSERT_TRUE(testbed.Up());
  const std::string other =
      testbed.Ask({"sbatch", "--parsable", "--nodes=2", "--exclusive", "--output=/dev/null", "--wrap=sleep 1000"});
  ASSERT_TRUE(testbed.AwaitJob(other, "RUNNING"));
  const std::string recipe = RecipeIn(testbed, Recipe(2, kSleepers)).path;
  const CommandResult detached = SubmittedRun::MusterOn(testbed, {"run", recipe, "--on", "slurm", "--detach"});
  ASSERT_EQ(detached.exit_code, 0) << detached.err;
  const std::string id = detached.out.substr(0, detached.out.find(' '));
  ASSERT_EQ(id.size(), 12U) << detached.out;
  EXPECT_NE(detached.err.find("submitted as slurm job 2"), std::string::npos) << detached.err;
  const json listed = json::parse(SubmittedRun::MusterOn(testbed, {"ps", "--json"}).out, nullptr, false);
  ASSERT_EQ(listed["queued"].size(), 1U) << listed;
  EXPECT_EQ(listed["queued"][0]["run"], id);
  EXPECT_EQ(listed["queued"][0]["outcome"], "queued");
  const CommandResult report = SubmittedRun::MusterOn(testbed, {"report", id});
  EXPECT_NE(report.out.find("job has not begun: slurm job 2 is queued"), std::string::npos) << report.out << report.err;
  EXPECT_NE(SubmittedRun::MusterOn(testbed, {"logs", id}).err.find("slurm job 2 is queued"), std::string::npos);
  const CommandResult stopped = SubmittedRun::MusterOn(testbed, {"stop", id});
  EXPECT_EQ(stopped.out, "job " + id + ": slurm job 2 is cancelled\n") << stopped.err;
  EXPECT_TRUE(testbed.AwaitJob("2", "CANCELLED"));
  EXPECT_EQ(json::parse(SubmittedRun::MusterOn(testbed, {"ps", "--json"}).out)["queued"].size(), 0U);
  const CommandResult watched = SubmittedRun::MusterOn(testbed, {"watch", id});
  EXPECT_EQ(watched.exit_code, 143) << watched.err;
  EXPECT_NE(watched.err.find("slurm job 2 ended before the run began: cancelled"), std::string::npos) << watched.err;
}

TEST(FromOutside, LogsWaitForAQueuedRunAndFollowIt) {
  SKIP_WITHOUT_SLURM();
  SlurmTestbed testbed(2);
  ASSERT_TRUE(testbed.Up());
  const std::string other =
      testbed.Ask({"sbatch", "--parsable", "--nodes=2", "--exclusive", "--output=/dev/null", "--wrap=sleep 1000"});
  ASSERT_TRUE(testbed.AwaitJob(other, "RUNNING"));
  const std::string recipe = RecipeIn(testbed, UntilFile(testbed, 2)).path;
  const CommandResult detached = SubmittedRun::MusterOn(testbed, {"run", recipe, "--on", "slurm", "--detach"});
  ASSERT_EQ(detached.exit_code, 0) << detached.err;
  CommandResult logs;
  std::thread follower([&] { logs = SubmittedRun::MusterOn(testbed, {"logs", "--follow", "--role", "worker"}); });
  EXPECT_EQ(testbed.Ask({"scancel", other}), "");
  ASSERT_TRUE(testbed.AwaitJob("2", "RUNNING"));
  LetEnd(testbed);
  follower.join();
  // The head writes its report after the last line of the logs.
  EXPECT_EQ(SubmittedRun::MusterOn(testbed, {"watch"}).exit_code, 0);
  EXPECT_EQ(logs.exit_code, 0) << logs.err;
  for (int rank = 0; rank < 4; ++rank) {
    EXPECT_NE(logs.out.find(fmt::format("worker.{0} rank {0} | runs", rank)), std::string::npos) << logs.out;
  }
}

// The control socket is that of another machine, which the testbed's nodes are not for the kernel.
TEST(FromOutside, ARunningRunIsShownAndStoppedThroughSlurm) {
  SKIP_WITHOUT_SLURM();
  SlurmTestbed testbed(2);
  ASSERT_TRUE(testbed.Up());
  const NodesBefore before(testbed, 2);
  SubmittedRun run(testbed, Recipe(2, kSleepsWithOrphan), {});
  ASSERT_TRUE(run.Await("first_output", 4)) << run.Said();
  std::filesystem::remove(run.run_dir() + "/control");
  EXPECT_NE(run.Muster({"ps", run.run_dir()}).out.find("running"), std::string::npos);
  EXPECT_NE(run.Muster({"logs", run.run_dir()}).out.find("worker.0 rank 0 | runs"), std::string::npos);
  EXPECT_EQ(run.ReportNow()["outcome"], "running");
  const CommandResult stopped = run.Muster({"stop", run.run_dir()});
  EXPECT_EQ(stopped.exit_code, 0) << stopped.err;
  EXPECT_NE(stopped.out.find("is stopping, through slurm job 1"), std::string::npos) << stopped.out;
  EXPECT_EQ(run.Result().exit_code, 143) << run.Said();
  EXPECT_EQ(run.Report()["outcome"], "stopped");
  before.ExpectNothingLeft(run);
}

// Slurm opens the job's output there, and says no more than that it could not launch the job.
TEST(FromOutside, ARunFolderThatTheNodeDoesNotSeeIsNamed) {
  SKIP_WITHOUT_SLURM();
  SlurmTestbed testbed(2);
  ASSERT_TRUE(testbed.Up());
  const std::string recipe =
      RecipeIn(testbed, Recipe(2, "    job:workers { count = 2, devices = 0, cwd = '/', command = { 'true' } }")).path;
  const std::string folder = testbed.own_folder() + "/run";
  const CommandResult run = SubmittedRun::MusterOn(testbed, {"run", recipe, "--on", "slurm", "--run-dir", folder});
  EXPECT_EQ(run.exit_code, 3) << run.out;
  const std::string why = "there is none: does n[1-2] see " + folder + "? The engine opens it there";
  EXPECT_NE(run.err.find("muster: job.out: " + why), std::string::npos) << run.err;
  const CommandResult report = SubmittedRun::MusterOn(testbed, {"report", folder});
  EXPECT_NE(report.out.find("  job.out   " + why), std::string::npos) << report.out << report.err;
}

// --- the command that follows ---------------------------------------------------------------------------

// The program on the login machine: the only process with that environment outside of the nodes' PID namespaces.
pid_t Follower(const std::string& mark) {
  std::error_code error;
  const auto own = std::filesystem::read_symlink("/proc/self/ns/pid", error);
  std::set<pid_t> found;
  for (const pid_t pid : ProcessesWith(mark)) {
    const std::string proc = "/proc/" + std::to_string(pid);
    if (std::filesystem::read_symlink(proc + "/ns/pid", error) != own) continue;
    if (std::filesystem::read_symlink(proc + "/exe", error) == MusterProgram()) found.insert(pid);
  }
  // Its children are the same program until they execute another one.
  for (const pid_t pid : found) {
    if (!found.contains(ParentOf(pid))) return pid;
  }
  return 0;
}

RecipeFile Marked(const SlurmTestbed& testbed, const std::string& recipe) {
  RecipeFile file = RecipeIn(testbed, recipe);
  file.env = {"FOLLOWER=" + testbed.folder()};
  return file;
}

TEST(FromOutside, AnInterruptStopsTheRun) {
  SKIP_WITHOUT_SLURM();
  SlurmTestbed testbed(2);
  ASSERT_TRUE(testbed.Up());
  const NodesBefore before(testbed, 2);
  SubmittedRun run(testbed, Marked(testbed, Recipe(2, kSleepsWithOrphan)), {});
  ASSERT_TRUE(run.Await("first_output", 4)) << run.Said();
  ASSERT_EQ(::kill(Follower("FOLLOWER=" + testbed.folder()), SIGINT), 0);
  EXPECT_EQ(run.Result().exit_code, 143) << run.Said();
  EXPECT_EQ(run.Report()["outcome"], "stopped");
  before.ExpectNothingLeft(run);
}

TEST(FromOutside, ARunSurvivesTheTerminalOfItsFollower) {
  SKIP_WITHOUT_SLURM();
  SlurmTestbed testbed(2);
  ASSERT_TRUE(testbed.Up());
  const NodesBefore before(testbed, 2);
  SubmittedRun run(testbed, Marked(testbed, UntilFile(testbed, 2)), {});
  ASSERT_TRUE(run.Await("first_output", 4)) << run.Said();
  ASSERT_EQ(::kill(Follower("FOLLOWER=" + testbed.folder()), SIGHUP), 0);
  EXPECT_EQ(run.Result().exit_code, 128 + SIGHUP) << run.Said();
  EXPECT_EQ(run.ReportNow()["outcome"], "running");
  LetEnd(testbed);
  const CommandResult watched = run.Muster({"watch", run.run_dir()});
  EXPECT_EQ(watched.exit_code, 0) << watched.err;
  before.ExpectNothingLeft(run);
}

TEST(FromOutside, AnOutageOfTheControllerIsSurvived) {
  SKIP_WITHOUT_SLURM();
  SlurmTestbed testbed(2);
  ASSERT_TRUE(testbed.Up());
  const NodesBefore before(testbed, 2);
  const std::string other =
      testbed.Ask({"sbatch", "--parsable", "--nodes=2", "--exclusive", "--output=/dev/null", "--wrap=sleep 1000"});
  ASSERT_TRUE(testbed.AwaitJob(other, "RUNNING"));
  SubmittedRun run(testbed, UntilFile(testbed, 2), {});
  ASSERT_TRUE(testbed.AwaitJob("2", "PENDING"));
  ASSERT_TRUE(testbed.StopDaemon("ctl"));  // a crash would lose jobs that are not in its state files yet
  const CommandResult listed = run.Muster({"ps", "--json", run.run_dir()});
  EXPECT_EQ(json::parse(listed.out)["queued"][0]["outcome"], "unknown") << listed.out;
  ASSERT_TRUE(testbed.StartDaemon("ctl"));
  EXPECT_EQ(testbed.Ask({"scancel", other}), "");
  ASSERT_TRUE(run.Await("first_output", 4)) << run.Said();
  ASSERT_TRUE(testbed.StopDaemon("ctl"));
  LetEnd(testbed);
  EXPECT_EQ(run.Result().exit_code, 0) << run.Said();
  ASSERT_TRUE(testbed.StartDaemon("ctl"));
}

// --- the end of an allocation ---------------------------------------------------------------------------

TEST(FromOutside, ScancelIsTheCauseInTheReport) {
  SKIP_WITHOUT_SLURM();
  SlurmTestbed testbed(2);
  ASSERT_TRUE(testbed.Up());
  const NodesBefore before(testbed, 2);
  SubmittedRun run(testbed, Recipe(2, kSleepsWithOrphan), {});
  ASSERT_TRUE(run.Await("first_output", 4)) << run.Said();
  EXPECT_EQ(testbed.Ask({"scancel", run.JobId()}), "");
  EXPECT_NE(run.Result().exit_code, 0);
  const json report = run.ReportNow();
  EXPECT_EQ(report["job"]["end"], "cancelled") << report["job"] << ContentOf(run.run_dir() + "/job.out");
  EXPECT_NE(run.Muster({"report", run.run_dir()}).out.find("slurm job 1; it was cancelled"), std::string::npos);
  before.ExpectNothingLeft(run);
}

TEST(FromOutside, ATimeLimitStopsTheRunAndTheNextAttemptContinuesFromItsCheckpoint) {
  SKIP_WITHOUT_SLURM();
  SlurmTestbed testbed(2);
  ASSERT_TRUE(testbed.Up());
  const NodesBefore before(testbed, 2);
  // Slurm sends the signal up to half a minute earlier than asked for.
  SubmittedRun run(testbed,
                   WithCheckpoints("slurm = { time = '1m', extra = { '--signal=B:USR1@5' }, "
                                   "requeue = { on = { 'time_limit' }, max = 1 } },"),
                   {});
  EXPECT_EQ(run.Result().exit_code, 0) << run.Said();
  const json first = run.ReportNow(1);
  EXPECT_EQ(first["outcome"], "stopped");
  EXPECT_EQ(first["why"], "the time limit of slurm job 1 is near");
  EXPECT_EQ(first["job"]["end"], "time_limit");
  const json second = run.ReportNow(2);
  EXPECT_EQ(second["outcome"], "ok") << second;
  EXPECT_EQ(second["resumed"]["run"], first["run"]);
  EXPECT_EQ(second["job"]["attempt"], 2);
  EXPECT_EQ(second["job"]["attempts"][0]["requeued"], true);
  EXPECT_EQ(ContentOf(run.DirectoryOf(2) + "/logs/worker.0.0.log"),
            "from " + first["run"].get<std::string>() + " " + run.run_dir() + "/checkpoints/step_1.pt\n");
  before.ExpectNothingLeft(run);
}

TEST(FromOutside, APreemptedRunContinuesWhenSlurmRequeuesIt) {
  SKIP_WITHOUT_SLURM();
  SlurmTestbed testbed(2);
  ASSERT_TRUE(testbed.Up());
  const NodesBefore before(testbed, 2);
  SubmittedRun run(testbed, WithCheckpoints("slurm = { requeue = { on = { 'preempted' }, max = 1 } },"), {});
  ASSERT_TRUE(run.Await("first_output", 2)) << run.Said();
  const std::string urgent = testbed.Ask(
      {"sbatch", "--parsable", "--partition=urgent", "--nodes=2", "--exclusive", "--output=/dev/null", "--wrap=true"});
  EXPECT_EQ(run.Result().exit_code, 0) << run.Said();
  const json second = run.ReportNow(2);
  EXPECT_EQ(second["outcome"], "ok") << second;
  EXPECT_EQ(second["job"]["attempts"][0]["end"], "preempted") << second["job"];
  EXPECT_EQ(second["resumed"]["run"], run.ReportNow(1)["run"]);
  const std::string ledger =
      CheckedLedger({run.DirectoryOf(2)}, {run.DirectoryOf(1), run.DirectoryOf(2)}, {}, {"HOME=/root"});
  EXPECT_NE(ledger.find(" queued="), std::string::npos) << ledger;
  before.ExpectNothingLeft(run);
}

TEST(FromOutside, ARunWhoseFirstNodeIsLostContinuesOnOthers) {
  SKIP_WITHOUT_SLURM();
  SlurmTestbed testbed(3, {"--slurm", "SlurmdTimeout=3"});
  ASSERT_TRUE(testbed.Up());
  const HostsBefore before(testbed, {"n2", "n3"});
  SubmittedRun run(testbed, WithCheckpoints("slurm = { requeue = { on = { 'node_fail' }, max = 1 } },"), {});
  ASSERT_TRUE(run.Await("first_output", 2)) << run.Said();
  ASSERT_TRUE(testbed.PowerOff("n1"));
  EXPECT_EQ(run.Result().exit_code, 0) << run.Said();
  const json second = run.ReportNow(2);
  EXPECT_EQ(second["outcome"], "ok") << second;
  EXPECT_EQ(second["job"]["attempts"][0]["end"], "node_fail") << second["job"];
  EXPECT_EQ(second["job"]["attempts"][0]["host"], "n1") << second["job"];
  EXPECT_EQ(HostsOf(second, "worker"), (std::set<std::string>{"n2", "n3"}));
  EXPECT_NE(run.Muster({"report", run.DirectoryOf(1)}).out.find("slurm job 1 lost its node n1"), std::string::npos);
}

TEST(FromOutside, NoMoreAttemptsThanAllowedAreMade) {
  SKIP_WITHOUT_SLURM();
  SlurmTestbed testbed(2);
  ASSERT_TRUE(testbed.Up());
  SubmittedRun run(
      testbed,
      Recipe(
          2,
          "    job:workers { count = 2, devices = 0, cwd = '/', command = muster.shell 'echo runs; exec sleep 1000' }"),
      {"--slurm", "requeue=preempted:1"});
  for (const int attempt : {1, 2}) {
    ASSERT_TRUE(run.AwaitOf(attempt, "first_output", 2)) << attempt;
    testbed.Ask({"srun", "--partition=urgent", "--nodes=2", "--exclusive", "true"});
  }
  EXPECT_NE(run.Result().exit_code, 0) << run.Said();
  EXPECT_NE(ContentOf(run.run_dir() + "/job.out").find("attempt 2 is not followed by another"), std::string::npos)
      << ContentOf(run.run_dir() + "/job.out");
  EXPECT_FALSE(std::filesystem::exists(run.DirectoryOf(3)));
}

// --- sweeps ---------------------------------------------------------------------------------------------

std::string OnlyFolderIn(const std::string& place) {
  std::string found;
  for (const auto& one : std::filesystem::directory_iterator(place)) {
    if (!one.is_symlink()) found = one.path();
  }
  return found;
}

CommandResult CheckSweep(const std::string& folder, int trials) {
  return RunCommand({.argv = {"/usr/bin/python3", MUSTER_SOURCE_DIR "/tests/support/check_sweep.py", "--complete",
                              std::to_string(trials), folder}});
}

TEST(FromOutside, TheDigitsSweepRunsInAJobOfItsOwn) {
  SKIP_WITHOUT_SLURM();
  SlurmTestbed testbed(4);
  ASSERT_TRUE(testbed.Up());
  const CommandResult sweep =
      SubmittedRun::MusterOn(testbed, {"sweep", MUSTER_SOURCE_DIR "/recipes/sweep_digits.lua", "--max-trials", "6",
                                       "--on", "slurm", "--slurm", "nodes=4"});
  ASSERT_EQ(sweep.exit_code, 0) << sweep.out << sweep.err;
  EXPECT_NE(sweep.err.find("submitted as slurm job 1"), std::string::npos) << sweep.err;
  const std::string folder = OnlyFolderIn(testbed.folder() + "/home/sweeps/digits");
  std::set<std::string> hosts;
  for (const json& began : RecordsOf(folder + "/journal.jsonl", "attempt_began")) {
    hosts.insert(began["hosts"].at(0).get<std::string>());
  }
  EXPECT_GT(hosts.size(), 1U);
}

TEST(FromOutside, ACancelledSweepIsContinuedInAnotherJob) {
  SKIP_WITHOUT_SLURM();
  SlurmTestbed testbed(2);
  ASSERT_TRUE(testbed.Up());
  std::ofstream(testbed.folder() + "/s.lua")
      << "local muster = require 'muster'\nlocal job = muster.recipe { name = 'job', params = { n = muster.int { 1 } "
         "},\n"
         "  plan = function(p, job)\n    job:workers { count = 1, devices = 1, cwd = '/', command = muster.shell (\n"
         "      'echo \"{\\\\\"loss\\\\\": ' .. p.n .. '}\" >> $MUSTER_METRICS; [ ' .. p.n .. ' = 1 ] || [ -e " +
             testbed.folder() +
             "/end ] || exec sleep 1000') }\n  end }\n"
             "return muster.sweep { name = 's', recipe = job, space = muster.product { n = muster.choice { 1, 2, 3, 4 "
             "} },\n"
             "  objective = muster.minimize 'loss' }\n";
  const CommandResult detached = SubmittedRun::MusterOn(
      testbed, {"sweep", testbed.folder() + "/s.lua", "--on", "slurm", "--slurm", "nodes=2", "--detach"});
  ASSERT_EQ(detached.exit_code, 0) << detached.err;
  const std::string folder = OnlyFolderIn(testbed.folder() + "/home/sweeps/s");
  ASSERT_TRUE(SubmittedRun::AwaitIn(folder, "attempt_ended", 1)) << ContentOf(folder + "/job.out");
  EXPECT_EQ(testbed.Ask({"scancel", "1"}), "");
  ASSERT_TRUE(testbed.AwaitJob("1", "CANCELLED"));
  std::ofstream(testbed.folder() + "/end").flush();
  const CommandResult resumed = SubmittedRun::MusterOn(testbed, {"resume", folder, "--on", "slurm"});
  EXPECT_EQ(resumed.exit_code, 0) << resumed.out << resumed.err << ContentOf(folder + "/job.out");
  EXPECT_NE(resumed.err.find("submitted as slurm job 2"), std::string::npos) << resumed.err;
  const CommandResult checked = CheckSweep(folder, 4);
  EXPECT_EQ(checked.exit_code, 0) << checked.out << checked.err;
}

}  // namespace
}  // namespace muster::testing
