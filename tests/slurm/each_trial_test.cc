// Tests sweeps on a real Slurm whose trials get an allocation each: jobs in the queue, early stopping, ends of jobs,
// and a head that is killed.
#include <algorithm>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <map>
#include <optional>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "hosts/sweep_over_hosts.h"
#include "slurm/submitted_run.h"
#include "support/processes.h"

namespace muster::testing {
namespace {

const char* const kUntilEnd = "exec " MUSTER_TESTS_DIR "/probe await $end";
const char* const kQuickTwo = "[ $0 -le 2 ] || exec " MUSTER_TESTS_DIR "/probe await $end";

// A testbed, and a sweep over n = 1 … `trials` for its login machine. Each trial reports n as its loss, prints the job
// that it is in, and goes on with `rest`, a shell command in which $0 is n.
class EachTrial : public ::testing::Test {
 protected:
  void SetUp() override { SKIP_WITHOUT_SLURM(); }

  bool Up(int nodes, int trials, const std::string& rest) {
    nodes_ = nodes;
    testbed_.emplace(nodes);
    if (!testbed_->Up()) return false;
    before_.emplace(*testbed_, NodeNames(nodes));
    std::filesystem::create_directory(Home());
    std::ofstream(testbed_->folder() + "/digits.lua")
        << "local muster = require 'muster'\n"
           "local job = muster.recipe { name = 'job', params = { n = muster.int { 1 } },\n"
           "  slurm = { each_trial = true },\n"
           "  plan = function(p, job)\n"
           "    job:workers { count = 1, devices = 0, cwd = '/', stop = { grace = '1s' }, command = { 'sh', '-c',\n"
           "      [[echo '{\"step\": 1, \"loss\": '$0'}' >> $MUSTER_METRICS; echo job $SLURM_JOB_ID; end="
        << testbed_->folder() << "/end; ]] ..\n      [[" << rest << "]], tostring(p.n) } }\n  end }\n"
        << "return muster.sweep { name = 'digits', recipe = job, space = { n = muster.range(1, " << trials
        << ") },\n  objective = muster.minimize 'loss' }\n";
    return true;
  }

  std::string Home() const { return testbed_->folder() + "/home"; }
  void LetEnd() const { std::ofstream(testbed_->folder() + "/end").flush(); }

  SweepOverHosts Sweep(Words options) const {
    options.insert(options.begin(), {"sweep", testbed_->folder() + "/digits.lua", "--on", "slurm"});
    return {*testbed_, options, Home()};
  }
  Words Jobs() const {
    Words jobs;
    std::istringstream lines(testbed_->Ask({"squeue", "--noheader", "--format=%i"}));
    for (std::string id; lines >> id;) jobs.push_back(id);
    return jobs;
  }
  // Waits until there are that many.
  bool AwaitJobs(std::size_t count) const {
    return testbed_->Ask({"sh", "-c",
                          fmt::format("timeout 60 sh -c 'until [ $(squeue --noheader | wc -l) = {} ]; do :; done' && "
                                      "echo yes",
                                      count)}) == "yes";
  }
  static pid_t HeadOf(const SweepOverHosts& sweep) { return sweep.Journal("sweep_began").at(0)["pid"].get<pid_t>(); }
  // The commands on the login machine that hold allocations.
  std::vector<pid_t> Holders() const {
    std::vector<pid_t> holders;
    for (const pid_t pid : ProcessesWith("MUSTER_HOME=" + Home())) {
      if (ContentOf("/proc/" + std::to_string(pid) + "/comm") == "salloc\n") holders.push_back(pid);
    }
    return holders;
  }
  static std::string RunOf(const SweepOverHosts& sweep, int trial, int attempt) {
    for (const json& began : sweep.Journal("attempt_began")) {
      if (began["trial"] != trial || began["attempt"] != attempt) continue;
      const auto id = began["id"].get<std::string>();
      return fmt::format("{}/t/{}/{}.{}", sweep.Folder(), id.substr(0, 2), id, attempt);
    }
    return {};
  }
  // Waits until the first attempt of a trial that has begun prints something.
  static bool Prints(const SweepOverHosts& sweep, int trial) {
    return HostsRun::AwaitIn(RunOf(sweep, trial, 0), "first_output", 1);
  }
  // Slurm may start jobs in another order than that of their submission.
  static bool LastTwoPrint(const SweepOverHosts& sweep) {
    const std::vector<json> began = sweep.Journal("attempt_began");
    return Prints(sweep, began.at(2)["trial"]) && Prints(sweep, began.at(3)["trial"]);
  }
  // That runs as long as nobody cancels it, on all nodes.
  std::string OtherJob() {
    const std::string id = testbed_->Ask({"sbatch", "--parsable", fmt::format("--nodes={}", nodes_), "--exclusive",
                                          "--output=/dev/null", "--wrap=sleep 1000"});
    EXPECT_TRUE(testbed_->AwaitJob(id, "RUNNING"));
    return id;
  }

  // No job, on no node a process, and no file for agents or about jobs.
  void ExpectNothingLeft(const SweepOverHosts& sweep) {
    for (const std::string& node : NodeNames(nodes_)) EXPECT_TRUE(testbed_->AwaitNode(node, "idle"));
    EXPECT_EQ(Jobs(), Words());
    before_->ExpectNoProcesses();
    EXPECT_FALSE(std::filesystem::exists(sweep.Folder() + "/jobs"));
    const std::string dial = Home() + "/muster/dial";
    EXPECT_TRUE(!std::filesystem::exists(dial) || std::filesystem::is_empty(dial)) << "the token is removed";
  }

  // Trial n - 1 has the loss n, and no other result.
  static void ExpectResults(const SweepOverHosts& sweep, int trials) {
    std::map<int, double> losses;
    for (const json& ended : sweep.Journal("attempt_ended")) {
      if (ended["class"] != "ok" || ended.contains("interrupted")) continue;
      EXPECT_TRUE(losses.emplace(ended["trial"].get<int>(), ended["loss"].get<double>()).second)
          << "repeated: " << ended;
    }
    std::map<int, double> expected;
    for (int trial = 0; trial < trials; ++trial) expected[trial] = trial + 1;
    EXPECT_EQ(losses, expected);
    const CommandResult checked = sweep.Checked(static_cast<std::size_t>(trials));
    EXPECT_EQ(checked.exit_code, 0) << checked.out << checked.err;
  }

  static std::string Said(SweepOverHosts& sweep) { return sweep.Result().out + sweep.Result().err; }

  int nodes_ = 0;
  std::optional<SlurmTestbed> testbed_;
  std::optional<HostsBefore> before_;
};

TEST_F(EachTrial, RunsInAJobOfItsOwnTwoAtATime) {
  ASSERT_TRUE(Up(4, 6, "true"));
  SweepOverHosts sweep = Sweep({"--slots", "2"});
  ASSERT_EQ(sweep.Result().exit_code, 0) << Said(sweep);
  ExpectResults(sweep, 6);
  std::set<std::string> jobs;
  int running = 0;
  for (const json& record : RecordsOf(sweep.Folder() + "/journal.jsonl")) {
    if (record["event"] == "attempt_ended") --running;
    if (record["event"] != "attempt_began") continue;
    EXPECT_LE(++running, 2);
    EXPECT_EQ(record["hosts"].size(), 1U);
    EXPECT_TRUE(jobs.insert(record["job"]).second) << record;
    EXPECT_EQ("slurm " + ContentOf(RunOf(sweep, record["trial"], 0) + "/logs/worker.0.0.log"),
              record["job"].get<std::string>() + "\n");
  }
  EXPECT_EQ(jobs.size(), 6U);
  const std::string shown = SubmittedRun::MusterOn(*testbed_, {"show", sweep.Folder() + ":0"}).out;
  EXPECT_NE(shown.find("  job        slurm job "), std::string::npos) << shown;
  ExpectNothingLeft(sweep);
}

TEST_F(EachTrial, TakesAsManyNodesAsItHasHosts) {
  ASSERT_TRUE(Up(3, 1, ""));
  std::ofstream(testbed_->folder() + "/digits.lua")
      << "local muster = require 'muster'\nreturn muster.recipe { name = 'digits', cluster = { hosts = 1 },\n"
         "  plan = function(p, job)\n    job:workers { count = job.cluster.devices, devices = 1, cwd = '/', command = "
         "muster.shell (\n"
         "      'echo \"{\\\\\"loss\\\\\": 1}\" >> $MUSTER_METRICS; hostname') }\n  end "
         "}\n";
  SweepOverHosts sweep = Sweep({"--slurm", "each_trial=yes", "--slurm", "gres=gpu:2", "--slots", "2", "--grid",
                                "hosts=1,2", "--minimize", "loss"});
  ASSERT_EQ(sweep.Result().exit_code, 0) << Said(sweep);
  std::map<std::size_t, std::size_t> workers;  // by the number of hosts
  for (const json& began : sweep.Journal("attempt_began")) {
    const std::string run = RunOf(sweep, began["trial"], 0);
    workers[began["hosts"].size()] = RecordsOf(run + "/journal.jsonl", "process_started").size();
    EXPECT_EQ(ContentOf(run + "/logs/worker.0.0.log"), began["hosts"].at(0).get<std::string>() + "\n");
    EXPECT_EQ(ContentOf(run + "/logs/worker.1.0.log"), began["hosts"].at(0).get<std::string>() + "\n");
  }
  EXPECT_EQ(workers, (std::map<std::size_t, std::size_t>{{1, 2}, {2, 4}}));
  ExpectNothingLeft(sweep);
}

// Trial 0 continues at every rung; the later ones are worse at the first one, where they would stay.
TEST_F(EachTrial, EndsWithItsJobWhenItIsStoppedEarly) {
  ASSERT_TRUE(Up(2, 3, "[ $0 = 1 ] || exec sleep 1000"));
  SweepOverHosts sweep = Sweep({"--slots", "1", "--asha", "step:1..4/2"});
  ASSERT_EQ(sweep.Result().exit_code, 0) << Said(sweep);
  std::map<int, std::string> classes;
  for (const json& ended : sweep.Journal("attempt_ended")) classes[ended["trial"]] = ended["class"];
  EXPECT_EQ(classes, (std::map<int, std::string>{{0, "ok"}, {1, "stopped"}, {2, "stopped"}}));
  ExpectNothingLeft(sweep);
}

// Two trials run and one is in the queue when the head is killed.
TEST_F(EachTrial, ContinuesExactlyAfterItsHeadWasKilled) {
  ASSERT_TRUE(Up(2, 6, kQuickTwo));
  std::string folder;
  std::vector<json> ended;
  {
    SweepOverHosts sweep = Sweep({"--slots", "3"});
    ASSERT_TRUE(sweep.Await("attempt_began", 4)) << Said(sweep);
    ASSERT_TRUE(sweep.Await("attempt_ended", 2)) << Said(sweep);
    ASSERT_TRUE(LastTwoPrint(sweep));
    folder = sweep.Folder();
    ASSERT_TRUE(AwaitJobs(3));
    ASSERT_EQ(::kill(HeadOf(sweep), SIGKILL), 0);
    sweep.Result();
    ended = sweep.Journal("attempt_ended");
    EXPECT_EQ(ended.size(), 2U);
    for (const std::string& node : NodeNames(nodes_)) EXPECT_TRUE(testbed_->AwaitNode(node, "idle"));
    EXPECT_EQ(Jobs(), Words()) << "without muster resume";
    before_->ExpectNoProcesses();
  }
  LetEnd();
  SweepOverHosts again(*testbed_, {"resume", folder}, Home());
  ASSERT_EQ(again.Result().exit_code, 0) << Said(again);
  ExpectResults(again, 6);
  const std::vector<json> all = again.Journal("attempt_ended");
  EXPECT_TRUE(std::equal(ended.begin(), ended.end(), all.begin())) << "the records of the first head are kept";
  EXPECT_EQ(all.size(), 8U) << "two of these were interrupted; the one in the queue had not begun";
  ExpectNothingLeft(again);
}

// With the head, the commands die that would have given the allocations back.
TEST_F(EachTrial, ItsLeftJobsAreCancelledByTheNextHead) {
  ASSERT_TRUE(Up(2, 4, kQuickTwo));
  std::string folder;
  {
    SweepOverHosts sweep = Sweep({"--slots", "2"});
    ASSERT_TRUE(sweep.Await("attempt_began", 4)) << Said(sweep);
    ASSERT_TRUE(LastTwoPrint(sweep));
    ASSERT_TRUE(AwaitJobs(2));
    folder = sweep.Folder();
    const pid_t head = HeadOf(sweep);
    const std::vector<pid_t> holders = Holders();
    EXPECT_EQ(holders.size(), 2U);
    ASSERT_EQ(::kill(head, SIGSTOP), 0);
    for (const pid_t holder : holders) EXPECT_EQ(::kill(holder, SIGKILL), 0);
    ASSERT_EQ(::kill(head, SIGKILL), 0);
    sweep.Result();
    EXPECT_EQ(Jobs().size(), 2U);
  }
  LetEnd();
  SweepOverHosts again(*testbed_, {"resume", folder}, Home());
  ASSERT_EQ(again.Result().exit_code, 0) << Said(again);
  ExpectResults(again, 4);
  ExpectNothingLeft(again);
}

// Its processes end before or after the agent has reported the signal that they all get.
class EachTrialIsCancelled : public EachTrial, public ::testing::WithParamInterface<const char*> {};

INSTANTIATE_TEST_SUITE_P(Slurm, EachTrialIsCancelled, ::testing::Values("EndsAtOnce", "TakesItsTime"),
                         [](const auto& one) { return std::string(one.param); });

TEST_P(EachTrialIsCancelled, AndRetriedWithTheCause) {
  const bool at_once = GetParam() == std::string("EndsAtOnce");
  ASSERT_TRUE(Up(2, 1,
                 at_once ? "setsid sleep 1000 & exec " MUSTER_TESTS_DIR "/probe await $end"
                         : "trap 'sleep 0.5; exit 1' TERM; until [ -e $end ]; do sleep 0.1 & wait; done"));
  SweepOverHosts sweep = Sweep({"--slots", "1"});
  ASSERT_TRUE(sweep.Await("attempt_began", 1)) << Said(sweep);
  const std::string run = RunOf(sweep, 0, 0);
  ASSERT_TRUE(Prints(sweep, 0)) << Said(sweep);
  EXPECT_EQ(testbed_->Ask({"scancel", "1"}), "");
  ASSERT_TRUE(sweep.Await("attempt_began", 2)) << Said(sweep);
  LetEnd();
  ASSERT_EQ(sweep.Result().exit_code, 0) << Said(sweep);
  const std::vector<json> ended = sweep.Journal("attempt_ended");
  ASSERT_EQ(ended.size(), 2U);
  EXPECT_EQ(ended[0]["class"], "preempted");
  EXPECT_EQ(ended[0]["again"], true);
  EXPECT_EQ(ended[0]["counted"], false) << "without --retry";
  EXPECT_NE(ended[0]["why"].get<std::string>().find("slurm job 1 was cancelled"), std::string::npos) << ended[0];
  EXPECT_EQ(sweep.Journal("attempt_began").at(1)["job"], "slurm job 2");
  const std::string report = SubmittedRun::MusterOn(*testbed_, {"report", run}).out;
  EXPECT_NE(report.find("slurm job 1 was cancelled"), std::string::npos) << report;
  ExpectNothingLeft(sweep);
}

TEST_F(EachTrial, IsRequestedAgainIfItsJobIsCancelledInTheQueue) {
  ASSERT_TRUE(Up(1, 1, "true"));
  const std::string other = OtherJob();
  SweepOverHosts sweep = Sweep({"--slots", "1"});
  ASSERT_TRUE(testbed_->AwaitJob("2", "PENDING")) << Said(sweep);
  EXPECT_EQ(testbed_->Ask({"scancel", "2"}), "");
  ASSERT_TRUE(testbed_->AwaitJob("3", "PENDING")) << Said(sweep);
  EXPECT_EQ(testbed_->Ask({"scancel", other}), "");
  ASSERT_EQ(sweep.Result().exit_code, 0) << Said(sweep);
  EXPECT_EQ(sweep.Journal("attempt_ended").at(0)["why"], "slurm job 2 was cancelled, before the trial began");
  EXPECT_NE(sweep.Result().err.find("waiting for slurm job 2"), std::string::npos) << Said(sweep);
  ExpectResults(sweep, 1);
  ExpectNothingLeft(sweep);
}

TEST_F(EachTrial, ALostNodeIsNamed) {
  ASSERT_TRUE(Up(2, 1, kUntilEnd));
  SweepOverHosts sweep = Sweep({"--slots", "1"});
  ASSERT_TRUE(sweep.Await("attempt_began", 1)) << Said(sweep);
  ASSERT_TRUE(Prints(sweep, 0)) << Said(sweep);
  const auto node = sweep.Journal("attempt_began").at(0)["hosts"].at(0).get<std::string>();
  ASSERT_TRUE(testbed_->PowerOff(node));
  LetEnd();
  ASSERT_EQ(sweep.Result().exit_code, 0) << Said(sweep);
  const json ended = sweep.Journal("attempt_ended").at(0);
  EXPECT_EQ(ended["class"], "host_lost");
  EXPECT_EQ(ended["blamed"], node);
  ExpectResults(sweep, 1);
}

TEST_F(EachTrial, AnInterruptGivesBackQueuedAndRunningJobs) {
  ASSERT_TRUE(Up(1, 3, kUntilEnd));
  SweepOverHosts sweep = Sweep({"--slots", "2"});
  ASSERT_TRUE(sweep.Await("attempt_began", 1)) << Said(sweep);
  ASSERT_TRUE(AwaitJobs(2));
  ASSERT_EQ(::kill(HeadOf(sweep), SIGINT), 0);
  EXPECT_EQ(sweep.Result().exit_code, 128 + SIGINT) << Said(sweep);
  ExpectNothingLeft(sweep);
  LetEnd();
  SweepOverHosts again(*testbed_, {"resume", sweep.Folder()}, Home());
  EXPECT_EQ(again.Result().exit_code, 0) << Said(again);
  ExpectResults(again, 3);
}

TEST_F(EachTrial, WhatCannotWorkIsRefused) {
  ASSERT_TRUE(Up(1, 1, "true"));
  {
    SweepOverHosts sweep = Sweep({});
    EXPECT_EQ(sweep.Result().exit_code, 2);
    EXPECT_NE(Said(sweep).find("slurm.each_trial needs --slots"), std::string::npos) << Said(sweep);
  }
  {
    SweepOverHosts sweep = Sweep({"--slots", "1", "--per-device", "2"});
    EXPECT_NE(Said(sweep).find("share no device"), std::string::npos) << Said(sweep);
  }
  SweepOverHosts sweep = Sweep({"--slots", "1", "--slurm", "partition=nix"});
  EXPECT_EQ(sweep.Result().exit_code, 3);
  EXPECT_NE(Said(sweep).find("trial 0 gets no hosts: salloc: error: "), std::string::npos) << Said(sweep);
  EXPECT_TRUE(sweep.Journal("attempt_began").empty());
}

}  // namespace
}  // namespace muster::testing
