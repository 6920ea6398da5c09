// Tests runs in jobs of a real Grid Engine of simulated hosts, which tests/gridengine/testbed starts on this machine.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "hosts/hosts_run.h"

#define SKIP_WITHOUT_GRID_ENGINE() \
  if (!GridEngineTestbed::Missing().empty()) GTEST_SKIP() << GridEngineTestbed::Missing()

namespace muster::testing {
namespace {

class GridEngineTestbed : public HostsTestbed {
 public:
  static const std::string& Missing() {
    static const std::string missing = MissingFor(Program());
    return missing;
  }
  explicit GridEngineTestbed(int hosts) : HostsTestbed(Program(), hosts, {}) {}

  // Runs a program on the login machine; returns its output.
  std::string Ask(std::vector<std::string> argv) const {
    const CommandResult answer = RunCommand({.argv = Login(std::move(argv))});
    return answer.exit_code == 0 ? answer.out : answer.err;
  }

 private:
  static std::string Program() { return std::string(MUSTER_SOURCE_DIR) + "/tests/gridengine/testbed"; }
};

using Words = std::vector<std::string>;
const Words kHosts = {"n1", "n2", "n3"};

// Words that run a command as a job of three hosts, and return its exit code.
Words Qsub(const GridEngineTestbed& testbed) {
  const std::string script = testbed.folder() + "/job.sh";
  std::ofstream(script) << "exec \"$@\"\n";
  return {"qsub", "-sync", "y",       "-N",  "muster",
          "-V",   "-S",    "/bin/sh", "-pe", "muster",
          "3",    "-j",    "y",       "-o",  testbed.folder() + "/job.out",
          script};
}

// Each process leaves an orphan in a session of its own, in which rank 3 is the first that fails.
RecipeFile Orphans(const GridEngineTestbed& testbed, const std::string& end) {
  const std::string path = testbed.folder() + "/r.lua";
  std::ofstream(path) << "local muster = require 'muster'\nreturn muster.recipe { name = 'job', framework = 'none',\n"
                         "  plan = function(p, job)\n    job:workers { per_host = 2, devices = 0, cwd = '/', command = "
                         "muster.shell\n      'setsid sleep 1000 > /dev/null 2>&1 & hostname; "
                      << end << "' }\n  end }\n";
  return {path};
}

// A process on each host; rank 0 writes a checkpoint on SIGUSR1.
RecipeFile Saves(const GridEngineTestbed& testbed) {
  const std::string path = testbed.folder() + "/saves.lua";
  std::ofstream(path)
      << "local muster = require 'muster'\nreturn muster.recipe { name = 'job', framework = 'none',\n"
         "  checkpoint = { dir = 'checkpoints', latest = 'step_*.pt', signal = 'USR1', wait = '60s' },\n"
         "  plan = function(p, job)\n    job:workers { per_host = 1, devices = 0, stop = { grace = '2s' },"
         " command =\n      { 'sh', '-c', 'trap \"[ $MUSTER_RANK != 0 ] || { mkdir -p $0; echo > $0/s; "
         "mv $0/s $0/step_1.pt; }\" USR1; trap \"\" TERM; echo runs; while :; do sleep 1000 & wait; done', "
         "job.checkpoint.dir } }\n  end }\n";
  return {path};
}

TEST(GridEngine, ARunUsesAllHostsOfTheJobAndItsFailureIsTheExitCode) {
  SKIP_WITHOUT_GRID_ENGINE();
  GridEngineTestbed testbed(3);
  ASSERT_TRUE(testbed.Up());
  const HostsBefore before(testbed, kHosts);
  HostsRun run(testbed, testbed.folder(), Qsub(testbed),
               Orphans(testbed, "[ $MUSTER_RANK != 3 ] || exit 7; sleep 1000"), {"--pass-exit-code"});
  EXPECT_EQ(run.Result().exit_code, 7) << run.Result().err << ContentOf(testbed.folder() + "/job.out");
  const json report = run.Report();
  EXPECT_EQ(report["first_failure"]["role"], "worker");
  EXPECT_EQ(report["receipt"]["reaped"], 6);
  EXPECT_EQ(run.Journal("agent_connected").size(), 3U);
  for (std::size_t rank = 0; rank < 6; ++rank) {
    const std::string host = report["processes"][rank]["host"];
    EXPECT_EQ(std::count(kHosts.begin(), kHosts.end(), host), 1) << host;
  }
  EXPECT_EQ(report["first_failure"]["host"], report["processes"][3]["host"]);
  before.ExpectNothingLeft(run);
}

TEST(GridEngine, ThePrintedScriptRuns) {
  SKIP_WITHOUT_GRID_ENGINE();
  GridEngineTestbed testbed(3);
  ASSERT_TRUE(testbed.Up());
  const HostsBefore before(testbed, kHosts);
  const std::string recipe = Orphans(testbed, "true").path;
  const std::vector<std::string> env = {"PATH=/usr/bin:/bin", "HOME=/root", "XDG_STATE_HOME=" + testbed.folder(),
                                        "MUSTER_HOME=" + testbed.folder() + "/home"};
  const CommandResult script = RunCommand(
      {.argv = testbed.Login({MusterProgram(), "plan", recipe, "--on", "gridengine", "--engine-option", "nodes=3"}),
       .env = env,
       .cwd = testbed.folder()});
  ASSERT_EQ(script.exit_code, 0) << script.err;
  std::ofstream(testbed.folder() + "/printed.sh") << script.out;
  const CommandResult job =
      RunCommand({.argv = testbed.Login(
                      {"qsub", "-sync", "y", "-o", testbed.folder() + "/job.out", testbed.folder() + "/printed.sh"}),
                  .env = env});
  EXPECT_EQ(job.exit_code, 0) << job.out << job.err << script.out << ContentOf(testbed.folder() + "/job.out");
  const std::string said = ContentOf(testbed.folder() + "/job.out");
  EXPECT_NE(said.find("job succeeded"), std::string::npos) << said;
  before.ExpectNoProcesses();
}

TEST(GridEngine, QdelLeavesNothing) {
  SKIP_WITHOUT_GRID_ENGINE();
  GridEngineTestbed testbed(3);
  ASSERT_TRUE(testbed.Up());
  const HostsBefore before(testbed, kHosts);
  HostsRun run(testbed, testbed.folder(), Qsub(testbed), Orphans(testbed, "sleep 1000"), {});
  ASSERT_TRUE(run.Await("first_output", 6)) << ContentOf(testbed.folder() + "/job.out") << testbed.Ask({"qstat"});
  testbed.Ask({"qdel", "muster"});
  run.Result();  // qsub -sync does not report that a job was deleted
  for (const json& ended : run.Journal("run_ended")) EXPECT_NE(ended["exit_code"], 0) << ended;
  before.ExpectNothingLeft(run);
}

// In a script of muster's the head is warned; what is looked for is the line that the others have not.
TEST(GridEngine, QdelOfAJobWithAWarningIsTheCauseAndLeavesACheckpoint) {
  SKIP_WITHOUT_GRID_ENGINE();
  GridEngineTestbed testbed(3);
  ASSERT_TRUE(testbed.Up());
  const HostsBefore before(testbed, kHosts);
  Words qsub = Qsub(testbed);
  qsub.insert(qsub.begin() + 1, "-notify");
  HostsRun run(testbed, testbed.folder(), qsub, Saves(testbed), {});
  ASSERT_TRUE(run.Await("first_output", 3)) << ContentOf(testbed.folder() + "/job.out") << testbed.Ask({"qstat"});
  testbed.Ask({"qdel", "muster"});
  run.Result();
  const json report = run.Report();
  EXPECT_EQ(report["outcome"], "stopped") << report;
  EXPECT_EQ(report["why"], "asked to stop by gridengine; gridengine job 1 was cancelled");
  EXPECT_TRUE(report["no_checkpoint"].is_null()) << report["no_checkpoint"];
  EXPECT_EQ(report["receipt"]["left"], 0);
  EXPECT_EQ(report["receipt"]["attested"], true) << report["receipt"];
  before.ExpectNothingLeft(run);

  // Its time limit deletes a job as well.
  qsub.insert(qsub.begin() + 1, {"-l", "h_rt=8"});
  const std::string folder = testbed.folder() + "/limited";
  std::filesystem::create_directory(folder);
  HostsRun limited(testbed, folder, qsub, Saves(testbed), {});
  limited.Result();
  EXPECT_TRUE(limited.Report()["why"].get<std::string>().starts_with(
      "asked to stop by gridengine; gridengine job 2 reaches its time limit in "))
      << limited.Report()["why"];
  EXPECT_TRUE(limited.Report()["no_checkpoint"].is_null()) << limited.Report()["no_checkpoint"];
  before.ExpectNothingLeft(limited);
}

}  // namespace
}  // namespace muster::testing
