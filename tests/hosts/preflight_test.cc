// Tests the checks of a run on several hosts before anything starts there.
#include <gtest/gtest.h>

#include "hosts/called_run.h"

namespace muster::testing {
namespace {

using nlohmann::json;

int On(const HostsTestbed& testbed, const std::string& host, const std::string& script) {
  return RunCommand({.argv = testbed.On(host, {"sh", "-c", script})}).exit_code;
}

const char* const kMakeTool = "printf '#!/bin/sh\\necho done\\n' > /root/tool; chmod +x /root/tool";
const char* const kToolPerHost = "    job:workers { per_host = 1, devices = 0, cwd = '/', command = { '/root/tool' } }";

TEST(Preflight, StartsNothingIfAHostLacksAProgramAndRemembersTheHost) {
  SKIP_WITHOUT_TESTBED();
  HostsTestbed testbed(3);
  ASSERT_TRUE(testbed.Up());
  for (const char* host : {"n1", "n3"}) ASSERT_EQ(On(testbed, host, kMakeTool), 0);
  WriteRecipe(testbed.own_folder(), 3, kToolPerHost);
  const CalledRun run(testbed, testbed.own_folder(), "run", {"--host", "n[1-3]"});
  EXPECT_EQ(run.result.exit_code, 3) << run.result.err;
  EXPECT_TRUE(run.Said("1 of 3 hosts: /root/tool cannot be started")) << run.result.err;
  EXPECT_TRUE(run.Said(": n2")) << run.result.err;
  EXPECT_TRUE(run.Said("--no-preflight")) << run.result.err;
  EXPECT_TRUE(run.Journal("start_ordered").empty());
  const auto compared = run.Journal("hosts_compared");
  ASSERT_EQ(compared.size(), 1U);
  EXPECT_EQ(compared[0]["faults"][0]["kind"], "program");
  EXPECT_EQ(compared[0]["faults"][0]["hosts"], json::array({1}));

  // The next run reports the host's failure; it has no other effect.
  ASSERT_EQ(On(testbed, "n2", kMakeTool), 0);
  const CalledRun next(testbed, testbed.own_folder(), "next", {"--host", "n[1-3]"});
  EXPECT_EQ(next.result.exit_code, 0) << next.result.err;
  EXPECT_TRUE(next.Said("n2 failed once in the last day; last less than a minute ago: /root/tool cannot be started"))
      << next.result.err;
  EXPECT_FALSE(next.Said("n1 failed")) << next.result.err;
}

// Names have no address before the start.
TEST(Preflight, ComparesTheMachinesThatAContractNames) {
  SKIP_WITHOUT_TESTBED();
  HostsTestbed testbed(2);
  ASSERT_TRUE(testbed.Up());
  std::ifstream file(testbed.folder() + "/testbed.json");
  const std::string second = json::parse(file)["hosts"][1]["address"];
  WriteRecipe(testbed.own_folder(), 2,
              "    job:workers { per_host = 1, devices = 0, cwd = '/', command = { 'true' }, env = { MASTER_ADDR = '" +
                  second + "' },\n      each = function(process) process.env.RANK = process.rank end }");
  const CalledRun wrong(testbed, testbed.own_folder(), "wrong", {"--host", "n1,n2"});
  EXPECT_NE(wrong.result.exit_code, 0);
  EXPECT_TRUE(
      wrong.Said("MASTER_ADDR = " + second + " of worker.0 is host 1 of the run, and worker.0 is on host 0 (n1)"))
      << wrong.result.err;
  EXPECT_TRUE(wrong.Journal("start_ordered").empty());
  const CalledRun right(testbed, testbed.own_folder(), "right", {"--host", "n2,n1"});
  EXPECT_EQ(right.result.exit_code, 0) << right.result.err;
}

TEST(Preflight, ComparesTheServersOfARankTable) {
  SKIP_WITHOUT_TESTBED();
  HostsTestbed testbed(2);
  ASSERT_TRUE(testbed.Up());
  std::ifstream file(testbed.folder() + "/testbed.json");
  const json hosts = json::parse(file)["hosts"];
  const std::string first = hosts[0]["address"];
  const std::string second = hosts[1]["address"];
  std::ofstream(testbed.own_folder() + "/recipe.lua")
      << "local muster = require 'muster'\nreturn muster.recipe { name = 'job', framework = { 'mindspore-ranktable',\n"
         "  servers = { { id = '"
      << first << "', devices = { '198.51.100.1' } }, { id = '" << second
      << "', devices = { '198.51.100.2' } } } },\n  cluster = { hosts = 2, devices_per_host = 1 }, plan = function(p, "
         "job) job:workers { command = { 'true' }, cwd = '/' } end }\n";
  const CalledRun wrong(testbed, testbed.own_folder(), "wrong", {"--host", "n2,n1"});
  EXPECT_NE(wrong.result.exit_code, 0);
  EXPECT_TRUE(wrong.Said("and the rank table has " + first + " for its ranks")) << wrong.result.err;
  EXPECT_TRUE(wrong.Said("--host n1:1,n2:1")) << wrong.result.err;
  EXPECT_TRUE(wrong.Journal("start_ordered").empty());
  const CalledRun right(testbed, testbed.own_folder(), "right", {"--host", "n1,n2"});
  EXPECT_EQ(right.result.exit_code, 0) << right.result.err;
}

TEST(Preflight, CanBeDisabled) {
  SKIP_WITHOUT_TESTBED();
  HostsTestbed testbed(2);
  ASSERT_TRUE(testbed.Up());
  ASSERT_EQ(On(testbed, "n1", kMakeTool), 0);
  WriteRecipe(testbed.own_folder(), 2, kToolPerHost);
  const CalledRun run(testbed, testbed.own_folder(), "run", {"--host", "n[1-2]", "--no-preflight"});
  EXPECT_EQ(run.result.exit_code, 3) << run.result.err;
  EXPECT_TRUE(run.Journal("hosts_compared").empty());
  EXPECT_EQ(run.Journal("spawn_failed").size(), 1U);
}

TEST(Preflight, ReportsDifferencesAndContinues) {
  SKIP_WITHOUT_TESTBED();
  HostsTestbed testbed(3);
  ASSERT_TRUE(testbed.Up());
  ASSERT_EQ(On(testbed, "n2", "for sshd in $(pidof sshd); do prlimit --pid $sshd --nofile=500:500; done"), 0);
  WriteRecipe(testbed.own_folder(), 3,
              "    job:workers { per_host = 1, devices = 0, cwd = '/', command = { 'hostname' } }");
  const CalledRun run(testbed, testbed.own_folder(), "run", {"--host", "n[1-3]"});
  EXPECT_EQ(run.result.exit_code, 0) << run.result.err;
  EXPECT_TRUE(run.Said("n2: limit nofile 500 (hard 500)")) << run.result.err;
  EXPECT_FALSE(run.Said("kernel")) << "what is the same is not told: " << run.result.err;
  ASSERT_EQ(run.Journal("paths_compared").size(), 1U);
  EXPECT_EQ(run.Journal("paths_compared")[0]["tried"], 6);
  EXPECT_EQ(run.Journal("paths_compared")[0]["faults"], json::array());
}

TEST(Preflight, ReportsHostsThatCannotReachTheRendezvousEndpoint) {
  SKIP_WITHOUT_TESTBED();
  HostsTestbed testbed(4);
  ASSERT_TRUE(testbed.Up());
  // The login machine is not affected: only connections between hosts fail.
  for (const char* host : {"n3", "n4"}) ASSERT_EQ(On(testbed, host, "ip route add unreachable 10.77.0.1/32"), 0);
  WriteRecipe(testbed.own_folder(), 4,
              "    job:workers { per_host = 1, devices = 0, cwd = '/', command = { 'hostname' },\n"
              "      env = { MEET = job:port 'meet' } }");
  const CalledRun run(testbed, testbed.own_folder(), "run", {"--host", "n[1-4]"});
  EXPECT_EQ(run.result.exit_code, 3) << run.result.err;
  const auto compared = run.Journal("paths_compared");
  ASSERT_EQ(compared.size(), 1U) << run.result.err;
  const json& fault = compared[0]["faults"][0];
  EXPECT_EQ(fault["port"], "meet");
  EXPECT_EQ(fault["from"], json::array({2, 3}));
  EXPECT_EQ(fault["to"], json::array({0}));
  const std::string port = std::to_string(fault["number"].get<int>());
  EXPECT_TRUE(run.Said("n[3-4] cannot reach n1:" + port + " (port meet): ")) << run.result.err;
  EXPECT_TRUE(run.Journal("start_ordered").empty());
}

TEST(Preflight, WarnsOfBrokenConnectionsThatThePlanDoesNotNeed) {
  SKIP_WITHOUT_TESTBED();
  HostsTestbed testbed(3);
  ASSERT_TRUE(testbed.Up());
  ASSERT_EQ(On(testbed, "n2", "ip route add unreachable 10.77.0.3/32"), 0);
  WriteRecipe(testbed.own_folder(), 3,
              "    job:workers { per_host = 1, devices = 0, cwd = '/', command = { 'hostname' } }");
  const CalledRun run(testbed, testbed.own_folder(), "run", {"--host", "n[1-3]"});
  EXPECT_EQ(run.result.exit_code, 0) << run.result.err;
  EXPECT_TRUE(run.Said("n2 cannot reach n3: ")) << run.result.err;
}

}  // namespace
}  // namespace muster::testing
