// Tests drills over ssh: faults of processes, agents and connections of other hosts, and a spare that replaces one.
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "hosts/host_processes.h"
#include "hosts/hosts_testbed.h"
#include "rehearse/drilled.h"

namespace muster::testing {
namespace {

// The run directory is in a folder that all hosts share, so that each finds the checkpoints.
nlohmann::json DrillOn(const HostsTestbed& testbed, const std::string& recipe, std::vector<std::string> more,
                       CommandResult& result) {
  const std::string folder = testbed.folder() + "/drill";
  std::filesystem::create_directory(folder);
  std::ofstream(folder + "/job.lua") << recipe;
  std::vector<std::string> words = {MusterProgram(), "drill", folder + "/job.lua", "--json", "--host-lease", "2s"};
  words.insert(words.end(), more.begin(), more.end());
  result = RunCommand({.argv = testbed.Login(words),
                       .env = {"PATH=/usr/bin:/bin", "MUSTER_SSH=" + testbed.ssh(), "HOME=/root",
                               "XDG_STATE_HOME=" + testbed.own_folder() + "/state"},
                       .cwd = folder});
  return nlohmann::json::parse(result.out, nullptr, false);
}

nlohmann::json RowOf(const nlohmann::json& drill, const std::string& fault) {
  for (const auto& row : drill["faults"]) {
    if (row["fault"].get<std::string>().starts_with(fault)) return row;
  }
  return nullptr;
}

const std::string kRecipe =
    DrillRecipe("count = 3, cwd = '/', restart = { max = 9, scope = 'job', backoff = '50ms' }",
                "'sleep', '1000', job.checkpoint.newest", "cluster = { hosts = 3, devices_per_host = 1 },");

TEST(DrillOnHosts, SurvivesAShortCutAndReplacesLostHosts) {
  SKIP_WITHOUT_TESTBED();
  HostsTestbed testbed(5);
  ASSERT_TRUE(testbed.Up());
  const HostProcesses before(testbed.Init("n2"));
  CommandResult result;
  const nlohmann::json drill = DrillOn(testbed, kRecipe,
                                       {"--stub",
                                        "--step",
                                        "20ms",
                                        "--host",
                                        "n[1-5]",
                                        "--spares",
                                        "2",
                                        "--inject",
                                        "kill:worker:1@500ms",
                                        "--inject",
                                        "cut:n2@1s+1s",
                                        "--inject",
                                        "slow:n1@2500ms+300ms",
                                        "--inject",
                                        "agent:n3@3s",
                                        "--inject",
                                        "cut:n1@6s+4s",
                                        "--inject",
                                        "kill:worker:0@12s",
                                        "--time",
                                        "14s"},
                                       result);
  ASSERT_TRUE(drill.is_object()) << result.out << result.err;
  EXPECT_EQ(result.exit_code, 0) << result.out << result.err;
  EXPECT_EQ(RowOf(drill, "kill worker.1")["happened"], "restart 1 of 9: the job");
  EXPECT_EQ(RowOf(drill, "cut n2")["happened"], "the run goes on");
  EXPECT_EQ(RowOf(drill, "slow n1")["happened"], "the run goes on");
  EXPECT_EQ(RowOf(drill, "agent n3")["happened"], "n4 replaces n3; restart 2 of 9: the job");
  EXPECT_EQ(RowOf(drill, "cut n1")["happened"], "n5 replaces n1; restart 3 of 9: the job");
  EXPECT_EQ(RowOf(drill, "kill worker.0 on n5")["happened"], "restart 4 of 9: the job");
  EXPECT_EQ(drill["as_simulated"], 4);
  EXPECT_TRUE(before.New().empty());
}

// The others wait for the process that hangs, and all fall silent: a dump shows which host it was. A fault of a host
// that is used no more delays no other fault.
TEST(DrillOnHosts, ExcludesAHostOnWhichProcessesHang) {
  SKIP_WITHOUT_TESTBED();
  HostsTestbed testbed(4);
  ASSERT_TRUE(testbed.Up());
  const std::string recipe = DrillRecipe(
      "count = 3, cwd = '/', limits = { silent = '2s' },"
      " restart = { max = 9, scope = 'job', backoff = '50ms', verdict = true }",
      "'sleep', '1000', job.checkpoint.newest", "cluster = { hosts = 3, devices_per_host = 1 },");
  CommandResult result;
  const nlohmann::json drill = DrillOn(
      testbed, recipe,
      {"--stub", "--step", "20ms", "--steps", "500", "--host", "n[1-4]", "--spares", "1", "--inject", "hang:n2@300ms",
       "--inject", "hang:n2@600ms", "--inject", "hang:n2@900ms", "--inject", "kill:worker:0@1s"},
      result);
  ASSERT_TRUE(drill.is_object()) << result.out << result.err;
  EXPECT_EQ(RowOf(drill, "hang worker.1 on n2")["happened"], "restart 1 of 9: the job") << result.out;
  EXPECT_EQ(RowOf(drill, "hang n2")["outcome"], "missed") << "n4 is in its place\n" << result.out;
  EXPECT_EQ(RowOf(drill, "kill worker.0")["outcome"], "ok") << result.out;
  EXPECT_EQ(drill["as_simulated"], 3) << result.out;
}

TEST(DrillOnHosts, EndsEverythingWithItsHead) {
  SKIP_WITHOUT_TESTBED();
  HostsTestbed testbed(3);
  ASSERT_TRUE(testbed.Up());
  const HostProcesses before(testbed.Init("n2"));
  CommandResult result;
  const nlohmann::json drill = DrillOn(
      testbed, kRecipe,
      {"--stub", "--step", "20ms", "--host", "n[1-3]", "--inject", "head@500ms", "--time", "1500ms", "--resumes", "1"},
      result);
  ASSERT_TRUE(drill.is_object()) << result.out << result.err;
  EXPECT_EQ(RowOf(drill, "head")["happened"], "every process ends") << result.out;
  EXPECT_TRUE(before.New().empty());
}

}  // namespace
}  // namespace muster::testing
