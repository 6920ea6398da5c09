// Tests whole runs in the pods of a stand-in cluster: outcomes, faults of pods, of the cluster and of the head, and
// that nothing is left.
#include <algorithm>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <sys/inotify.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "conformance/process_environment.h"
#include "pods/stand_in_cluster.h"
#include "support/await.h"
#include "support/command.h"
#include "support/journal_records.h"
#include "support/processes.h"
#include "support/run_folder.h"

namespace muster::testing {
namespace {

using nlohmann::json;
using Words = std::vector<std::string>;

// muster run in the background.
class PodRun {
 public:
  // `body` is that of the plan function for two hosts, `fields` are of the recipe.
  PodRun(const StandInCluster& cluster, const std::string& body, const Words& options = {},
         const std::string& fields = "")
      : cluster_(cluster) {
    std::ofstream(folder_ / "r.lua") << "local muster = require 'muster'\nreturn muster.recipe {\n  name = 'job',\n  "
                                        "cluster = { hosts = 2 },\n"
                                     << fields << "  kubernetes = { context = '" << cluster.folder()
                                     << "', image = 'registry.example/train:1' },\n  plan = function(p, job)\n"
                                     << body << "\n  end,\n}\n";
    Command command;
    command.argv = {MusterProgram(), "run", folder_ / "r.lua", "--on", "kubernetes", "--run-dir", run_dir()};
    if (std::find(options.begin(), options.end(), "--agent") == options.end())
      command.argv.insert(command.argv.end(), {"--agent", MUSTER_BIN_DIR "/muster-agent"});
    command.argv.insert(command.argv.end(), options.begin(), options.end());
    command.env = Environment();
    command.cwd = folder_.path();
    runner_ = std::thread([this, command] { result_ = RunCommand(command); });
  }
  ~PodRun() {
    if (runner_.joinable()) runner_.join();
  }
  PodRun(const PodRun&) = delete;
  PodRun& operator=(const PodRun&) = delete;

  const CommandResult& Result() {
    if (runner_.joinable()) runner_.join();
    return result_;
  }
  std::string run_dir() const { return folder_ / "run"; }
  CommandResult Muster(Words words) const {
    words.insert(words.begin(), MusterProgram());
    return RunCommand({.argv = words, .env = Environment(), .cwd = folder_.path()});
  }
  json Report() {
    Result();
    return json::parse(ContentOf(run_dir() + "/report.json"), nullptr, false);
  }
  std::vector<json> Journal(const std::string& event) const { return RecordsOf(run_dir() + "/journal.jsonl", event); }
  std::string Log(const std::string& process) const { return ContentOf(run_dir() + "/logs/" + process + ".0.log"); }
  // All that was said on both streams, and the report.
  std::string Said() {
    Result();
    return result_.out + result_.err + ContentOf(run_dir() + "/report.txt");
  }

  bool Await(const std::string& event, std::size_t count) const {
    const UniqueFd watch(::inotify_init1(IN_CLOEXEC));
    ::inotify_add_watch(watch.get(), folder_.path().c_str(), IN_CREATE);
    for (;;) {
      for (const std::string& path : {run_dir(), run_dir() + "/journal.jsonl"})
        ::inotify_add_watch(watch.get(), path.c_str(), IN_CREATE | IN_MODIFY);
      if (Journal(event).size() >= count) return true;
      char events[4096];
      if (!AwaitReadable(watch.get()) || ::read(watch.get(), events, sizeof events) < 0) return false;
    }
  }

  void Signal(int signal) const { ::kill(Journal("run_began").at(0)["pid"].get<pid_t>(), signal); }

  // Neither objects of the cluster nor processes, once the deletion has been carried out.
  void ExpectNothingLeft() {
    Result();
    const std::string id = Journal("run_began").at(0)["run"];
    const auto until = std::chrono::steady_clock::now() + kDeadline;
    while (!cluster_.IsEmpty() && std::chrono::steady_clock::now() < until) {
      // A call of the cluster takes its time: this is no busy loop.
    }
    EXPECT_TRUE(cluster_.IsEmpty()) << cluster_.List().dump(1);
    for (const pid_t pid : ProcessesWith("MUSTER_PROCESS=" + id)) {
      const UniqueFd process = PidFd(pid);
      EXPECT_TRUE(!process || AwaitReadable(process.get())) << pid;
    }
  }

 private:
  static Words Environment() {
    return {"PATH=/usr/bin:/bin", "HOME=/root", "MUSTER_KUBECTL=" + StandInCluster::Kubectl(), "TOKEN=canary-4711",
            "OF_CALLER=yes"};
  }

  const StandInCluster& cluster_;
  TempDir folder_;
  std::thread runner_;
  CommandResult result_;
};

const char* const kSleepers = "job:workers { per_host = 1, command = { 'sleep', '1000' } }";

bool Has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

class PodRunTest : public ::testing::TestWithParam<const char*> {
 protected:
  void SetUp() override { SKIP_WITHOUT_CLUSTER(); }
};

TEST_P(PodRunTest, RunsInPodsAndLeavesNothing) {
  const StandInCluster cluster;
  PodRun run(cluster,
             "job:workers { count = 4, command = { 'sh', '-c', 'echo $MUSTER_RANK image:$IMAGE_VARIABLE "
             "caller:$OF_CALLER token:$TOKEN; cat /proc/sys/kernel/hostname; readlink /proc/1/exe' }, "
             "env = { TOKEN = p.token } }",
             {"--as", GetParam()}, "  params = { token = muster.secret { from_env = 'TOKEN' } },\n");
  EXPECT_EQ(run.Result().exit_code, 0) << run.Said();
  const auto report = run.Report();
  EXPECT_EQ(report["outcome"], "ok") << run.Said();
  const std::string log = run.Log("worker.3");
  EXPECT_TRUE(Has(log, "3 image:of the image caller: token:canary-4711\njob-")) << log << run.Said();
  EXPECT_TRUE(Has(log, "-1\n" MUSTER_BIN_DIR "/muster-agent\n")) << log;
  EXPECT_EQ(run.Journal("host_reached").at(0)["address"], "127.0.0.1");
  EXPECT_FALSE(Has(cluster.Calls(), "canary"));
  EXPECT_TRUE(Has(cluster.Calls(), " delete ")) << cluster.Calls();
  run.ExpectNothingLeft();
}

INSTANTIATE_TEST_SUITE_P(Forms, PodRunTest, ::testing::Values("job", "jobset", "pods"),
                         [](const auto& form) { return std::string(form.param); });

class PodFaults : public ::testing::Test {
 protected:
  void SetUp() override { SKIP_WITHOUT_CLUSTER(); }
};

TEST_F(PodFaults, AProcessHasTheEnvironmentOfThePlan) {
  const StandInCluster cluster;
  const TempDir folder;
  std::ofstream(folder / "site.lua") << kLayersSite;
  const std::string fields = "  framework = 'torch',\n";
  PodRun run(cluster, kLayersBody, WithLayers({"--site", folder / "site.lua"}), fields);
  EXPECT_EQ(run.Result().exit_code, 0) << run.Said();
  const CommandResult planned =
      run.Muster(WithLayers({"plan", "r.lua", "--site", folder / "site.lua", "--env", "worker:1", "--json"}));
  ExpectAsPlanned(planned.out, run.Log("worker.1"));
  ExpectInherited(run.Log("worker.1"), false);
  run.ExpectNothingLeft();
}

TEST_F(PodFaults, AProcessThatFailsIsTheFirstFailure) {
  const StandInCluster cluster;
  PodRun run(
      cluster,
      "job:workers { per_host = 1, command = { 'sh', '-c', '[ $MUSTER_RANK = 1 ] && exit 7; exec sleep 1000' } }",
      {"--pass-exit-code"});
  EXPECT_EQ(run.Result().exit_code, 7) << run.Said();
  const auto failure = run.Report()["first_failure"];
  EXPECT_EQ(failure["rank"], 1);
  EXPECT_EQ(failure["host"], "pod1");
  run.ExpectNothingLeft();
}

TEST_F(PodFaults, APodThatEndsIsALostHostWithTheReasonOfTheCluster) {
  const std::vector<std::pair<std::string, std::string>> faults = {
      {"oom", "OOMKilled"},
      {"evict", "Evicted: The node was low on resource: memory"},
      {"preempt", "PreemptionByScheduler: default-scheduler: preempting"},
      {"kill", "it ended"}};
  for (const auto& [fault, why] : faults) {
    const StandInCluster cluster;
    PodRun run(cluster, kSleepers);
    ASSERT_TRUE(run.Await("process_started", 2)) << run.Said();
    cluster.Call({fault, "1"});
    EXPECT_EQ(run.Result().exit_code, 3) << run.Said();
    const auto lost = run.Journal("agent_lost");
    ASSERT_FALSE(lost.empty()) << run.Said();
    EXPECT_EQ(lost[0]["host"], 1);
    EXPECT_TRUE(Has(lost[0]["why"], why)) << lost[0].dump();
    EXPECT_TRUE(Has(run.Said(), why)) << run.Said();
    run.ExpectNothingLeft();
  }
}

// The grace period of the deletion is that of the checkpoint, and not the 30 s of Kubernetes (2 s of the stand-in).
TEST_F(PodFaults, AJobThatIsDeletedWritesItsCheckpointFirst) {
  const StandInCluster cluster;
  PodRun run(cluster,
             "job:workers { per_host = 1, stop = { grace = '2s' }, command = { 'sh', '-c', 'trap \"sleep 3; [ "
             "$MUSTER_RANK != 0 ] || echo 1 > $0/step_1.pt\" USR1; trap \"exit 0\" TERM; mkdir -p $0; echo runs; "
             "while :; do sleep 1000 & wait; done', job.checkpoint.dir } }",
             {}, "  checkpoint = { dir = 'checkpoints', latest = 'step_*.pt', signal = 'USR1', wait = '60s' },\n");
  ASSERT_TRUE(run.Await("first_output", 2)) << run.Said();
  const std::string id = run.Journal("run_began").at(0)["run"];
  EXPECT_EQ(cluster.List()["pods"][0]["spec"]["terminationGracePeriodSeconds"], 72) << cluster.List();
  EXPECT_EQ(cluster.Call({"delete", "job,pod,service", "--selector=muster.run=" + id}).exit_code, 0);
  EXPECT_EQ(run.Result().exit_code, 143) << run.Said();
  const auto report = run.Report();
  EXPECT_EQ(report["outcome"], "stopped") << run.Said();
  EXPECT_EQ(report["why"], "the pods of the job are being deleted");
  EXPECT_TRUE(report["no_checkpoint"].is_null()) << report["no_checkpoint"];
  EXPECT_TRUE(Has(run.Said(), "step_1.pt")) << run.Said();
  run.ExpectNothingLeft();
}

TEST_F(PodFaults, ASpareReplacesAPodThatEnds) {
  const StandInCluster cluster;
  PodRun run(cluster,
             "job:workers { per_host = 1, restart = { max = 2, on = 'failure' }, command = { 'sh', '-c', "
             "'[ $MUSTER_RANK = 1 ] && [ $MUSTER_ATTEMPT = 0 ] && exec sleep 1000; exit 0' } }",
             {"--as", "pods", "--spares", "1"});
  ASSERT_TRUE(run.Await("process_started", 2)) << run.Said();
  cluster.Call({"evict", "1"});
  EXPECT_EQ(run.Result().exit_code, 0) << run.Said();
  EXPECT_EQ(run.Journal("host_replaced").size(), 1U) << run.Said();
  run.ExpectNothingLeft();
}

TEST_F(PodFaults, WhatCannotStartIsReportedWithItsReason) {
  struct Case {
    Words options;
    std::string said;
  };
  const std::vector<Case> cases = {
      {{"--kubernetes", "image=missing:1"}, "its pod does not start: ImagePullBackOff: Back-off pulling image"},
      {{"--kubernetes", "image=unschedulable:1", "--kubernetes", "start_within=1s"},
       "its pod did not start within 1 s: Unschedulable: 0/3 nodes are available"},
      {{"--kubernetes", "image=deleted:1"}, ": it was deleted"},
      {{"--kubernetes", "image=forbidden:1"}, "(Forbidden): error when creating"},
      {{"--agent", "/no/muster-agent"}, "it ended"},
      {{"--kubernetes", "context=/no/such"}, "context \"/no/such\" does not exist"}};
  for (const Case& one : cases) {
    const StandInCluster cluster;
    PodRun run(cluster, kSleepers, one.options);
    EXPECT_EQ(run.Result().exit_code, 3) << run.Said();
    EXPECT_TRUE(Has(run.Said(), one.said)) << run.Said();
    EXPECT_TRUE(run.Journal("process_started").empty());
    run.ExpectNothingLeft();
  }
}

TEST_F(PodFaults, AClusterWithoutJobSetsIsNamed) {
  const StandInCluster cluster;
  std::ofstream(cluster / "no-jobset") << "\n";
  PodRun run(cluster, kSleepers, {"--as", "jobset"});
  EXPECT_EQ(run.Result().exit_code, 3);
  EXPECT_TRUE(Has(run.Said(), "the cluster has no JobSets")) << run.Said();
  run.ExpectNothingLeft();
}

TEST_F(PodFaults, AnInterruptStopsTheProcessesAndDeletesThePods) {
  const StandInCluster cluster;
  PodRun run(cluster,
             "job:workers { per_host = 1, command = { 'sh', '-c', "
             "'trap \"echo stopped; exit 0\" TERM; echo ready; while :; do sleep 0.05; done' } }");
  ASSERT_TRUE(run.Await("process_started", 2)) << run.Said();
  for (const char* log : {"/logs/worker.0.0.log", "/logs/worker.1.0.log"})
    ASSERT_TRUE(AwaitLine(run.run_dir() + log, "ready"));
  run.Signal(SIGINT);
  EXPECT_NE(run.Result().exit_code, 0);
  EXPECT_TRUE(Has(run.Log("worker.1"), "stopped")) << run.Said();
  run.ExpectNothingLeft();
}

TEST_F(PodFaults, AHeadThatIsKilledLeavesNothing) {
  const StandInCluster cluster;
  PodRun run(cluster, kSleepers);
  ASSERT_TRUE(run.Await("process_started", 2)) << run.Said();
  run.Signal(SIGKILL);
  EXPECT_EQ(run.Result().exit_code, 128 + SIGKILL);
  run.ExpectNothingLeft();
}

TEST_F(PodFaults, OtherCommandsSeeAndStopTheRun) {
  const StandInCluster cluster;
  PodRun run(cluster, "job:workers { per_host = 1, command = { 'sh', '-c', 'echo hello; exec sleep 1000' } }");
  ASSERT_TRUE(run.Await("process_started", 2)) << run.Said();
  ASSERT_TRUE(AwaitLine(run.run_dir() + "/logs/worker.1.0.log", "hello"));
  EXPECT_TRUE(Has(run.Muster({"ps", run.run_dir()}).out, "running"));
  EXPECT_TRUE(Has(run.Muster({"logs", run.run_dir()}).out, "hello"));
  EXPECT_EQ(run.Muster({"stop", run.run_dir()}).exit_code, 0);
  run.Result();
  run.ExpectNothingLeft();
}

// --- without a cluster -----------------------------------------------------------------------------

TEST(PodCalls, AreRefusedWhereTheyMeanNothing) {
  const TempDir folder;
  std::ofstream(folder / "r.lua") << "local muster = require 'muster'\nreturn muster.recipe { name = 't', cluster = { "
                                     "hosts = 2 }, plan = function(p, job) job:workers { per_host = 1, command = { "
                                     "'true' } } end }\n";
  const auto said = [&](Words words) {
    words.insert(words.begin(), MusterProgram());
    const auto result =
        RunCommand({.argv = words,
                    .env = {"PATH=/usr/bin:/bin", "HOME=" + folder.path(), "MUSTER_KUBECTL=/no/kubectl"},
                    .cwd = folder.path()});
    return std::to_string(result.exit_code) + " " + result.err;
  };
  const std::string recipe = folder / "r.lua";
  EXPECT_TRUE(Has(said({"run", recipe, "--on", "kubernetes"}), "kubernetes.image is not set"));
  EXPECT_TRUE(Has(said({"run", recipe, "--as", "job"}), "--as is for pods"));
  EXPECT_TRUE(Has(said({"run", recipe, "--on", "kubernetes", "--host", "n1"}), "the engine chooses the hosts"));
  EXPECT_TRUE(Has(said({"run", recipe, "--on", "kubernetes", "--kubernetes", "image=x", "--spares", "1"}),
                  "--as pods makes pods that do not depend on each other"));
  EXPECT_TRUE(Has(said({"plan", recipe, "--on", "kubernetes", "--kubernetes", "image=x", "--json"}),
                  "prints a manifest, and another output is asked for"));
  EXPECT_TRUE(Has(said({"plan", recipe, "--as", "pods"}), "are for manifests"));
  EXPECT_TRUE(
      Has(said({"plan", recipe, "--on", "slurm", "--kubernetes", "image=x"}), "--kubernetes is for Kubernetes"));
  EXPECT_TRUE(Has(said({"doctor", "--on", "kubernetes"}), "makes pods for runs"));
  const std::string missing = said({"run", recipe, "--on", "kubernetes", "--kubernetes", "image=x"});
  EXPECT_TRUE(missing.starts_with("3 ")) << missing;
  EXPECT_TRUE(Has(missing, "kubectl cannot be started")) << missing;
}

}  // namespace
}  // namespace muster::testing
