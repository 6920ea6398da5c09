// Tests real jobs inside an allocation of a real Slurm: training through parameter servers, and a sweep.
#include <filesystem>
#include <fstream>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "slurm/slurm_run.h"

namespace muster::testing {
namespace {

std::set<std::string> HostsOf(const json& report, const std::string& role) {
  std::set<std::string> hosts;
  for (const json& process : report["processes"]) {
    if (process["role"] == role) hosts.insert(process["host"].get<std::string>());
  }
  return hosts;
}

TEST(SlurmJobs, ParameterServersTrainOnFourNodes) {
  SKIP_WITHOUT_SLURM();
  SlurmTestbed testbed(4);
  ASSERT_TRUE(testbed.Up());
  const NodesBefore before(testbed, 4);
  SlurmRun run(testbed, Sbatch(testbed, {"--nodes=4"}), RecipeFile{"recipes/parameter_server.lua"}, {"hosts=4"});
  ASSERT_EQ(run.Result().exit_code, 0) << run.Said();
  const json report = run.Report();
  EXPECT_EQ(HostsOf(report, "worker").size(), 4U);
  EXPECT_EQ(HostsOf(report, "server").size(), 2U);
  const std::string log = run.Log("worker.0");
  const std::size_t at = log.rfind("test accuracy ");
  ASSERT_NE(at, std::string::npos) << log;
  EXPECT_GT(std::stod(log.substr(at + 14)), 0.93) << log;
  EXPECT_EQ(report["receipt"]["reaped"], 7);
  before.ExpectNothingLeft(run);
}

// Eight trials of one process each share the four nodes; all agents are started by one step.
TEST(SlurmJobs, ASweepIsPackedIntoAnAllocation) {
  SKIP_WITHOUT_SLURM();
  SlurmTestbed testbed(4);
  ASSERT_TRUE(testbed.Up());
  std::ofstream(testbed.folder() + "/s.lua")
      << "local muster = require 'muster'\nlocal job = muster.recipe { name = 'job', params = { n = muster.int { 1 } "
         "},\n"
         "  plan = function(p, job)\n    job:workers { count = 1, devices = 1, cwd = '/', command = muster.shell (\n"
         "      'echo \"{\\\\\"loss\\\\\": ' .. p.n .. '}\" >> $MUSTER_METRICS; hostname') }\n  end }\n"
         "return muster.sweep { name = 's', recipe = job, space = muster.product { n = muster.choice { 1, 2, 3, 4, 5, "
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
  EXPECT_EQ(hosts, (std::set<std::string>{"n1", "n2", "n3", "n4"}));
}

}  // namespace
}  // namespace muster::testing
