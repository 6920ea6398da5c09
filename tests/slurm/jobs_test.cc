// Tests real jobs inside an allocation of a real Slurm: training through parameter servers, and a sweep.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "hosts/sweep_over_hosts.h"
#include "hosts/training.h"
#include "slurm/slurm_run.h"

namespace muster::testing {
namespace {

const std::set<std::string> kFour = {"n1", "n2", "n3", "n4"};

TEST(SlurmJobs, ParameterServersTrainOnFourNodes) {
  SKIP_WITHOUT_SLURM();
  SlurmTestbed testbed(4);
  ASSERT_TRUE(testbed.Up());
  const NodesBefore before(testbed, 4);
  SlurmRun run(testbed, Sbatch(testbed, {"--nodes=4"}), RecipeFile{"recipes/parameter_server.lua"}, {"hosts=4"});
  ASSERT_EQ(run.Result().exit_code, 0) << run.Said();
  EXPECT_EQ(HostsOf(run, "worker"), kFour);
  EXPECT_EQ(HostsOf(run, "server").size(), 2U);
  EXPECT_GT(NumberAfter(run.Log("worker.0"), "test accuracy "), 0.93) << run.Log("worker.0");
  EXPECT_EQ(run.Report()["receipt"]["reaped"], 7);
  before.ExpectNothingLeft(run);
}

TEST(SlurmJobs, TorchTrainsOnFourNodes) {
  SKIP_WITHOUT_SLURM();
  if (!HasTorch()) GTEST_SKIP() << "/usr/bin/python3 has no PyTorch (tools/setup --all)";
  SlurmTestbed testbed(4);
  ASSERT_TRUE(testbed.Up());
  const NodesBefore before(testbed, 4);
  SlurmRun run(testbed, Salloc({"--nodes=4"}), RecipeFile{"recipes/torch_ddp.lua"}, {"hosts=4", "workers=4"});
  ASSERT_EQ(run.Result().exit_code, 0) << run.Said();
  EXPECT_EQ(HostsOf(run, "worker"), kFour);
  ExpectOneLoss(run);
  before.ExpectNothingLeft(run);
}

// Eight trials of one process each share the four nodes; all agents are started by one step. The first four trials wait
// for one another, so they run at the same time.
TEST(SlurmJobs, ASweepIsPackedIntoAnAllocation) {
  SKIP_WITHOUT_SLURM();
  SlurmTestbed testbed(4);
  ASSERT_TRUE(testbed.Up());
  std::ofstream(testbed.folder() + "/s.lua")
      << "local muster = require 'muster'\nlocal job = muster.recipe { name = 'job', params = { n = muster.int { 1 } "
         "},\n"
         "  plan = function(p, job)\n    job:workers { count = 1, devices = 1, cwd = '/', command = muster.shell (\n"
         "      'echo \"{\\\\\"loss\\\\\": ' .. p.n .. '}\" >> $MUSTER_METRICS; touch " +
             testbed.folder() + "/began.' .. p.n .. '; until [ $(ls " + testbed.folder() +
             "/began.* | wc -l) -ge 4 ]; do sleep 0.1; done') }\n  end }\n"
             "return muster.sweep { name = 's', recipe = job, space = muster.product { n = muster.choice { 1, 2, 3, 4, "
             "5, "
             "6, 7, "
             "8 } },\n  objective = muster.minimize 'loss' }\n";
  const std::string home = testbed.folder() + "/home";
  Words words = Salloc({"--nodes=4"});
  words.insert(words.end(), {MusterProgram(), "sweep", testbed.folder() + "/s.lua"});
  const CommandResult sweep = RunCommand(
      {.argv = testbed.Login(words),
       .env = {"PATH=/usr/bin:/bin", "HOME=/root", "XDG_STATE_HOME=" + testbed.folder(), "MUSTER_HOME=" + home}});
  ASSERT_EQ(sweep.exit_code, 0) << sweep.out << sweep.err;
  Words folders;
  for (const auto& one : std::filesystem::directory_iterator(home + "/sweeps/s")) {
    if (!one.is_symlink()) folders.push_back(one.path());
  }
  ASSERT_EQ(folders.size(), 1U);
  const CommandResult checked = RunCommand(
      {.argv = {"/usr/bin/python3", MUSTER_SOURCE_DIR "/tests/support/check_sweep.py", "--complete", "8", folders[0]}});
  EXPECT_EQ(checked.exit_code, 0) << checked.out << checked.err;
  std::set<std::string> hosts;
  for (const json& began : RecordsOf(folders[0] + "/journal.jsonl", "attempt_began")) {
    hosts.insert(began["hosts"].at(0).get<std::string>());
  }
  EXPECT_EQ(hosts, kFour);
}

// --- a sweep that is interrupted ------------------------------------------------------------------------

enum class Interruption { kKill, kScancel };

class SlurmSweeps : public ::testing::TestWithParam<Interruption> {};

INSTANTIATE_TEST_SUITE_P(Slurm, SlurmSweeps, ::testing::Values(Interruption::kKill, Interruption::kScancel),
                         [](const auto& how) { return how.param == Interruption::kKill ? "kill" : "scancel"; });

// The head is killed, or its job cancelled, in the middle; another allocation continues. Trials that had ended are not
// repeated, and the slower ones are stopped early (ASHA) throughout.
TEST_P(SlurmSweeps, ContinueExactlyInAnotherAllocation) {
  SKIP_WITHOUT_SLURM();
  SlurmTestbed testbed(4);
  ASSERT_TRUE(testbed.Up());
  const std::string home = testbed.folder() + "/home";
  std::filesystem::create_directory(home);
  const HostsBefore before(testbed, NodeNames(4));
  std::vector<json> ended;
  std::string folder;
  {
    SweepOverHosts sweep(testbed, {"sweep", "recipes/sweep_digits.lua"}, home, Salloc({"--nodes=4"}));
    ASSERT_TRUE(sweep.Await("attempt_ended", 8)) << sweep.Result().out << sweep.Result().err;
    folder = sweep.Folder();
    if (GetParam() == Interruption::kKill) {
      const std::string head = sweep.Journal("sweep_began").at(0)["pid"].dump();
      EXPECT_EQ(RunCommand({.argv = testbed.Login({"kill", "-KILL", head})}).exit_code, 0);
    } else {
      const std::string job = testbed.Ask({"squeue", "--noheader", "--name=muster", "--format=%i"});
      EXPECT_EQ(testbed.Ask({"scancel", job}), "");
    }
    sweep.Result();
    ended = sweep.Journal("attempt_ended");
    before.ExpectNoProcesses();
  }
  EXPECT_LT(ended.size(), 48U);
  SweepOverHosts again(testbed, {"resume", folder}, home, Sbatch(testbed, {"--nodes=4"}));
  ASSERT_EQ(again.Result().exit_code, 0) << ContentOf(testbed.folder() + "/job.out");
  const CommandResult checked = again.Checked(48);
  EXPECT_EQ(checked.exit_code, 0) << checked.out << checked.err;
  before.ExpectNoProcesses();
  const std::vector<json> all = again.Journal("attempt_ended");
  ASSERT_GT(all.size(), ended.size());
  std::set<std::string> over;  // trials with a result
  int stopped = 0;
  for (const json& one : all) {
    if (one.value("why", "") == "its head was lost") continue;  // in the middle of it
    if (one["class"] == "stopped") ++stopped;
    if (one["class"] == "ok" || one["class"] == "stopped") {
      EXPECT_TRUE(over.insert(one["trial"].dump()).second) << "repeated: " << one;
    }
  }
  EXPECT_EQ(over.size(), 48U);
  EXPECT_GT(stopped, 0);
  EXPECT_TRUE(std::equal(ended.begin(), ended.end(), all.begin())) << "the first allocation's records are kept";
}

}  // namespace
}  // namespace muster::testing
