// Whole runs whose processes are in containers of a real podman: what they see, how they end, and that nothing is left.
#include <csignal>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "conformance/process_environment.h"
#include "containers/own_podman.h"
#include "context/python_job.h"
#include "supervision/started_muster.h"
#include "sweeps/sweep_case.h"

namespace muster::testing {
namespace {

using nlohmann::json;

constexpr const char* kContainer = "container = { image = 'muster-test', options = { '--pull=never' } }, ";

class OnlyPodman : public ::testing::Environment {
 public:
  void TearDown() override {
    if (OwnPodman::Missing().empty()) OwnPodman::Remove();
  }
};
const auto* const only_podman = ::testing::AddGlobalTestEnvironment(new OnlyPodman);

// A run that finds the podman of this test program.
class ContainerRun : public ::testing::Test {
 protected:
  void SetUp() override { SKIP_WITHOUT_PODMAN(); }
  void TearDown() override {
    if (!muster_) return;
    EXPECT_EQ(muster_->Left(), std::vector<pid_t>());
    muster_.reset();  // ends whatever is left of it
    EXPECT_EQ(OwnPodman::Get().Containers(), "");
  }

  void Start(const std::string& body, const std::string& fields = kContainer) {
    muster_ = std::make_unique<StartedMuster>(body, fields);
    std::ofstream said(*muster_ / "said");
    muster_->Start({}, OwnPodman::Get().Before({"FROM_OUTSIDE=seen", "TOKEN=canary-value"}));
  }
  int End() { return muster_->End(); }
  int Run(const std::string& body, const std::string& fields = kContainer) {
    Start(body, fields);
    return End();
  }
  // Once a process has written a line that begins with it to the file said in its working folder.
  bool Says(const std::string& text) const { return AwaitLine(*muster_ / "said", text).has_value(); }

  std::string Log(const std::string& process) const {
    return ContentOf(muster_->run_dir() + "/logs/" + process + ".log");
  }
  json Report() const { return json::parse(ContentOf(muster_->run_dir() + "/report.json"), nullptr, false); }
  pid_t PidOf(std::size_t start) const { return muster_->Journal("process_started").at(start)["pid"]; }
  pid_t Agent() const { return muster_->Journal("agent_connected").at(0)["pid"]; }
  std::string Output() const { return muster_->Output(); }

  std::unique_ptr<StartedMuster> muster_;
};

constexpr const char* kSleeper =
    "job:role 'main' { command = { 'sh', '-c', 'echo ready >> said; sleep 1000 & wait' }, stop = { grace = '20s' } }";

TEST_F(ContainerRun, HasItsEnvironmentFolderLogAndExitCode) {
  const int code = Run(R"(
    job:env { GREETING = 'a b', PATH = '/bin:/nowhere', QUOTED = "it's\n2" }
    job:role 'main' { cwd = folder, command = { 'sh', '-c', [[
      echo "$GREETING,$PWD,$MUSTER_ROLE,$PATH,${FROM_OUTSIDE-none},$MUSTER_RUN_DIR"
      echo "$QUOTED"
      cat /etc/passwd
      echo kept > kept
      exit 7 ]] } })");
  EXPECT_EQ(code, 1) << Output();
  const std::string folder = std::filesystem::path(muster_->run_dir()).parent_path();
  EXPECT_EQ(Log("main.0.0"), "a b," + folder + ",main,/bin:/nowhere,none," + muster_->run_dir() +
                                 "\nit's\n2\nroot:x:0:0:root:/:/bin/sh\n");
  const json report = Report();
  EXPECT_EQ(report["first_failure"]["exit_code"], 7) << report;
  EXPECT_EQ(report["first_failure"]["why"], "exited with code 7");
  EXPECT_EQ(report["receipt"]["left"], 0);
  EXPECT_EQ(ContentOf(folder + "/kept"), "kept\n");
}

TEST_F(ContainerRun, HasTheEnvironmentOfThePlan) {
  muster_ = std::make_unique<StartedMuster>(kLayersBody, std::string(kContainer) + "framework = 'torch', ");
  std::ofstream(*muster_ / "site.lua") << kLayersSite;
  muster_->Start(WithLayers({"--site", "site.lua"}), OwnPodman::Get().Before(kLayersCaller));
  ASSERT_EQ(End(), 0) << Output();
  ExpectAsPlanned(
      muster_->Muster(WithLayers({"plan", "recipe.lua", "--site", "site.lua", "--env", "worker:1", "--json"})).out,
      Log("worker.1.0"));
  ExpectInherited(Log("worker.1.0"), false);
}

TEST_F(ContainerRun, RunsOutsideIfItsRoleSaysSo) {
  ASSERT_EQ(Run("job:role 'out' { container = false, command = { 'sh', '-c', 'echo ${FROM_OUTSIDE-none}' } }\n"
                "job:role 'inside' { command = { 'sh', '-c', 'echo ${FROM_OUTSIDE-none}' } }"),
            0);
  EXPECT_EQ(Log("out.0.0"), "seen\n");
  EXPECT_EQ(Log("inside.0.0"), "none\n");
}

TEST_F(ContainerRun, SeesItsMounts) {
  ASSERT_EQ(
      Run("job:role 'main' { cwd = '/', command = { 'sh', '-c', 'ls /mnt/data; touch /mnt/data/x || echo refused' },\n"
          "container = { mounts = folder .. ':/mnt/data:ro' } }"),
      0);
  EXPECT_NE(Log("main.0.0").find("recipe.lua\n"), std::string::npos);
  EXPECT_NE(Log("main.0.0").find("refused\n"), std::string::npos);
}

// It sees the run directory only, which a link would leave.
TEST_F(ContainerRun, OfATrialHasHardLinksOfThePackagesOfItsSweep) {
  SweepCase sweep(kParams, "");
  sweep.WriteRecipe(kParams,
                    "job:role 'main' { command = { 'sh', '-c', 'cat ${PYTHONPATH%%:*}/muster_context/__init__.py # "
                    "python' } }",
                    kContainer);
  sweep.CallBy(OwnPodman::Get().Before());
  const CommandResult result = sweep.Sweep({"--grid", "x=1,2", "--slots", "1"});
  ASSERT_EQ(result.exit_code, 0) << result.out << result.err;
  EXPECT_EQ(sweep.Muster({"logs", "job:1"}).out, ContentOf(MUSTER_SOURCE_DIR "/python/muster_context/__init__.py"));
  std::size_t same = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(sweep.sweep())) {
    EXPECT_FALSE(entry.is_symlink() && entry.path().filename() == "python");
    const bool package = entry.path().parent_path().filename() == "muster_context";
    if (package && entry.path().filename() == "__init__.py") same += entry.hard_link_count() == 3 ? 1 : 0;
  }
  EXPECT_EQ(same, 3U) << "one file in the sweep's copy and both trials";
}

TEST_F(ContainerRun, ReportsAMissingImage) {
  EXPECT_EQ(Run("job:role 'main' { command = { 'true' }, container = { image = 'localhost/muster-none' } }"), 1);
  const json report = Report();
  EXPECT_EQ(report["first_failure"]["exit_code"], 125);
  EXPECT_EQ(report["first_failure"]["why"],
            "exited with code 125 (podman could not start the container; often its image is missing, or an option is "
            "wrong)");
  EXPECT_NE(Log("main.0.0").find("localhost/muster-none"), std::string::npos) << Log("main.0.0");
}

TEST_F(ContainerRun, ReportsAMissingRuntime) {
  EXPECT_EQ(Run("job:role 'main' { command = { 'true' } }", "container = { image = 'x', runtime = 'apptainer' }, "), 3);
  EXPECT_NE(Output().find("apptainer"), std::string::npos) << Output();
}

TEST_F(ContainerRun, GetsTheSignalThatStopsIt) {
  Start(
      "job:role 'main' { command = { 'sh', '-c', "
      "[[trap 'echo got TERM; exit 3' TERM; echo ready >> said; while :; do sleep 1000 & wait; done]] }, "
      "stop = { grace = '20s' } }");
  ASSERT_TRUE(Says("ready")) << Output();
  OwnPodman::Get().Ask({"wait", "--condition=running", "--latest"});  // podman has finished the start
  ::kill(muster_->head(), SIGTERM);
  EXPECT_EQ(End(), 128 + SIGTERM) << Output();
  EXPECT_NE(Log("main.0.0").find("got TERM\n"), std::string::npos) << Log("main.0.0");
  EXPECT_EQ(muster_->Journal("process_exited").at(0)["code"], 3);
}

// As PID 1 of a PID namespace it would ignore the signal.
TEST_F(ContainerRun, EndsByASignalThatItDoesNotHandle) {
  Start(
      "job:role 'main' { command = { 'sh', '-c', 'echo ready >> said; exec sleep 1000' }, stop = { grace = '20s' } }");
  ASSERT_TRUE(Says("ready")) << Output();
  OwnPodman::Get().Ask({"wait", "--condition=running", "--latest"});  // podman has finished the start
  ::kill(muster_->head(), SIGTERM);
  EXPECT_EQ(End(), 128 + SIGTERM) << Output();
  // podman itself exits with 0 if the signal arrives before it has finished the start.
  const int code = muster_->Journal("process_exited").at(0)["code"];
  EXPECT_TRUE(code == 128 + SIGTERM || code == 0) << code;
  for (const json& sent : muster_->Journal("signal_sent")) EXPECT_EQ(sent["signal"], SIGTERM) << sent;
}

TEST_F(ContainerRun, LeavesNothingWhenItDoesNotStopInTime) {
  Start(
      "job:role 'main' { command = { 'sh', '-c', [[trap '' TERM; echo ready >> said; sleep 1000 & wait]] }, "
      "stop = { grace = '0.2s' } }");
  ASSERT_TRUE(Says("ready")) << Output();
  ::kill(muster_->head(), SIGTERM);
  EXPECT_EQ(End(), 128 + SIGTERM) << Output();
}

TEST_F(ContainerRun, LeavesNothingInAPidNamespaceOfTheRuntime) {
  Start(kSleeper, "container = { image = 'muster-test', options = { '--pull=never', '--pid=private' } }, ");
  ASSERT_TRUE(Says("ready")) << Output();
  ::kill(Agent(), SIGKILL);
  EXPECT_EQ(End(), 3) << Output();
}

TEST_F(ContainerRun, LeavesNothingWhenTheAgentIsKilled) {
  Start(kSleeper);
  ASSERT_TRUE(Says("ready")) << Output();
  ::kill(Agent(), SIGKILL);
  EXPECT_EQ(End(), 3) << Output();
}

TEST_F(ContainerRun, LeavesNothingWhenTheHeadIsKilled) {
  Start(kSleeper);
  ASSERT_TRUE(Says("ready")) << Output();
  ::kill(muster_->head(), SIGKILL);
  EXPECT_EQ(End(), 128 + SIGKILL) << Output();
}

TEST_F(ContainerRun, IsRestartedOnlyAfterTheKilledOne) {
  Start(
      "job:role 'main' { restart = { max = 1, on = { 'SIGKILL' }, backoff = 0 }, command = { 'sh', '-c', "
      "'[ $MUSTER_ATTEMPT = 0 ] || { echo again >> said; exit 0; }; echo ready >> said; sleep 1000 & wait' } }");
  ASSERT_TRUE(Says("ready")) << Output();
  ::kill(PidOf(0), SIGKILL);
  ASSERT_TRUE(Says("again")) << Output();
  const std::string run = muster_->Journal("run_began").at(0)["run"];  // other runs have a main.0.0, too
  EXPECT_TRUE(ProcessesWith("MUSTER_PROCESS=" + run + "/main.0.0").empty())
      << "the container of the first attempt runs still";
  EXPECT_EQ(End(), 0) << Output();
}

TEST_F(ContainerRun, GetsSecretsThatNoCommandLineShows) {
  Start(
      "job:env { TOKEN = p.token }\njob:role 'main' { command = { 'sh', '-c', 'echo ready ${#TOKEN} >> said; sleep "
      "1000 & wait' } }",
      std::string(kContainer) + "params = { token = muster.secret { from_env = 'TOKEN' } }, ");
  ASSERT_TRUE(Says("ready 12")) << Output();
  for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
    EXPECT_EQ(ContentOf(entry.path() / "cmdline").find("canary-value"), std::string::npos) << entry.path();
  }
  ::kill(muster_->head(), SIGTERM);
  EXPECT_EQ(End(), 128 + SIGTERM) << Output();
}

TEST_F(ContainerRun, IsRehearsedOutside) {
  const TempDir folder;
  std::ofstream(folder / "recipe.lua")
      << "local muster = require \"muster\"\nreturn muster.recipe { name = \"job\", " << kContainer
      << "plan = function(p, job) job:workers { count = 2, command = { 'no-such-program' } } end }";
  const auto rehearse = [&](const std::string& path) {
    return RunCommand({.argv = {MusterProgram(), "rehearse", "recipe.lua"}, .env = {path}, .cwd = folder.path()});
  };
  const CommandResult found = rehearse(OwnPodman::Get().Path());
  EXPECT_EQ(found.exit_code, 0) << found.out << found.err;
  const CommandResult missing = rehearse("PATH=/nowhere");
  EXPECT_EQ(missing.exit_code, 1) << missing.out << missing.err;
  EXPECT_NE(missing.out.find("podman"), std::string::npos) << missing.out << missing.err;
}

// --- the context, and a training job ---

class ContainerContext : public ::testing::Test {
 protected:
  void SetUp() override {
    SKIP_WITHOUT_PODMAN();
    if (!HasPython()) GTEST_SKIP() << "python3 is missing";
  }
};

TEST_F(ContainerContext, IsAppliedAndReportedAsOutside) {
  json reports[2];
  for (const bool inside : {false, true}) {
    PythonJob job("old",
                  "context.set_context { device_target = \"CPU\", mode = 0 }\n"
                  "job:scheduler { container = false, command = { \"true\" } }\n"
                  "job:workers { count = 1, env = { PATH = \"/usr/bin:/bin\", STANDIN_CALLS = job.run_dir .. "
                  "\"/calls\" }, command = { \"python3\", \"train.py\" } }",
                  "mindspore = \"1.6\"," +
                      (inside ? std::string("container = { image = \"muster-test\", options = { \"--pull=never\" }, "
                                            "mounts = { \"/usr:/usr:ro\", \"" MUSTER_SOURCE_DIR ":" MUSTER_SOURCE_DIR
                                            ":ro\" } },")
                              : ""));
    job.Put("train.py", "import mindspore\n");
    Command command = job.RunCommandOf({"--verbose"});
    command.env[0] = OwnPodman::Get().Path();
    const CommandResult result = RunCommand(command);
    ASSERT_EQ(result.exit_code, 0) << result.err << job.Log("worker.0");
    reports[inside] = job.ContextOf();
    EXPECT_EQ(reports[inside].value("state", ""), "applied") << reports[inside];
  }
  for (const char* key : {"state", "release", "expected", "applied"}) {
    EXPECT_EQ(reports[0].value(key, json()), reports[1].value(key, json())) << key;
  }
}

TEST_F(ContainerContext, GetsItsSecretByADescriptor) {
  PythonJob job("old",
                "context.set_context { device_target = \"CPU\", mode = 0 }\n"
                "context.set_ps_context { enable_ssl = true, client_password = p.token, server_password = p.token }\n"
                "job:scheduler { container = false, command = { \"true\" } }\n"
                "job:workers { count = 1, env = { PATH = \"/usr/bin:/bin\", STANDIN_CALLS = job.run_dir .. \"/calls\" "
                "}, command = { \"python3\", \"train.py\" } }",
                "mindspore = \"1.6\", params = { token = muster.secret { from_env = \"TOKEN\" } }, "
                "container = { image = \"muster-test\", options = { \"--pull=never\" }, mounts = { \"/usr:/usr:ro\", "
                "\"" MUSTER_SOURCE_DIR ":" MUSTER_SOURCE_DIR ":ro\" } },");
  job.Put("train.py", "import mindspore\n");
  Command command = job.RunCommandOf({}, {"TOKEN=/canary-value"});
  command.env[0] = OwnPodman::Get().Path();
  const CommandResult result = RunCommand(command);
  ASSERT_EQ(result.exit_code, 0) << result.err << job.Log("worker.0");
  EXPECT_NE(ContentOf(job.run_dir() + "/calls").find("\"client_password\": \"'/canary-value'\""), std::string::npos);
}

TEST(ContainerTraining, GivesTheReceiptAndTheLossOfARunOutside) {
  SKIP_WITHOUT_PODMAN();
  json receipts[2];
  std::string metrics[2];
  for (const bool inside : {false, true}) {
    const TempDir folder;
    std::ofstream(folder / "recipe.lua")
        << "local muster = require \"muster\"\nlocal base = muster.load \"parameter_server.lua\"\n"
           "return base:extend { "
        << (inside ? "container = { image = \"muster-test\", options = { \"--pull=never\" }, mounts = { "
                     "\"/usr:/usr:ro\", \"" MUSTER_BIN_DIR ":" MUSTER_BIN_DIR ":ro\", \"" MUSTER_SOURCE_DIR
                     ":" MUSTER_SOURCE_DIR ":ro\" } }, "
                   : "")
        << "plan = function(p, job, base)\n job:env { PATH = \"" MUSTER_BIN_DIR
           ":/usr/bin:/bin\" }\n"
           "base(p, job)\nend }\n";
    std::filesystem::copy_file(MUSTER_SOURCE_DIR "/recipes/parameter_server.lua", folder / "parameter_server.lua");
    const CommandResult result = RunCommand({.argv = {MusterProgram(), "run", "recipe.lua", "workers=2", "servers=1",
                                                      "epochs=2", "--run-dir", folder / "run"},
                                             .env = OwnPodman::Get().Environment(),
                                             .cwd = folder.path()});
    ASSERT_EQ(result.exit_code, 0) << result.out << result.err << ContentOf(folder / "run/logs/worker.0.0.log");
    receipts[inside] = json::parse(ContentOf(folder / "run/report.json"))["receipt"];
    metrics[inside] = ContentOf(folder / "run/metrics/worker.0.0.jsonl");
  }
  for (const char* key : {"started", "reaped", "left"}) EXPECT_EQ(receipts[0][key], receipts[1][key]) << key;
  EXPECT_EQ(OwnPodman::Get().Containers(), "");
}

}  // namespace
}  // namespace muster::testing
