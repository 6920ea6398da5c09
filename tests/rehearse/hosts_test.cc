// Tests whole rehearsals over ssh, on a testbed with faulty hosts.
#include <cstdio>
#include <fstream>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "hosts/host_processes.h"
#include "hosts/hosts_testbed.h"
#include "rehearse/rehearsed.h"

namespace muster::testing {
namespace {

int On(const HostsTestbed& testbed, const std::string& host, const std::string& script) {
  return RunCommand({.argv = testbed.On(host, {"sh", "-c", script})}).exit_code;
}

// Rehearses `body` on `hosts` hosts of the testbed, from the login machine.
Rehearsed RehearseOn(const HostsTestbed& testbed, int hosts, const std::string& body,
                     std::vector<std::string> more = {}, const std::string& framework = "torch") {
  std::ofstream(testbed.own_folder() + "/recipe.lua")
      << "local muster = require 'muster'\nreturn muster.recipe {\n  name = 'job', doc = 'a job', framework = '"
      << framework << "',\n  cluster = { hosts = " << hosts << ", devices_per_host = 2 },\n  plan = function(p, job)\n"
      << body << "\n  end,\n}\n";
  std::vector<std::string> words = {MusterProgram(),
                                    "rehearse",
                                    testbed.own_folder() + "/recipe.lua",
                                    "--run-dir",
                                    testbed.own_folder() + "/run",
                                    "--host",
                                    "n[1-" + std::to_string(hosts) + "]",
                                    "--json",
                                    "--within",
                                    "3s"};
  words.insert(words.end(), more.begin(), more.end());
  return Rehearsed(RunCommand({.argv = testbed.Login(words),
                               .env = {"PATH=/usr/bin:/bin", "MUSTER_SSH=" + testbed.ssh(), "HOME=/root",
                                       "XDG_STATE_HOME=" + testbed.own_folder() + "/state"},
                               .cwd = testbed.own_folder()}));
}

const char* const kTwoEach = "    job:workers { per_host = 2, devices = 0, cwd = '/', command = { 'sh' } }";
const char* const kTool =
    "    job:workers { per_host = 2, devices = 0, cwd = '/', command = { '/root/tool', '--data', '/root/data.csv' } }";
const char* const kMakeTool =
    "printf '#!/bin/sh\\necho done\\n' > /root/tool; chmod +x /root/tool; echo 1,2 > /root/data.csv";

TEST(RehearsalOnHosts, SucceedsOnSoundHosts) {
  SKIP_WITHOUT_TESTBED();
  HostsTestbed testbed(4);
  ASSERT_TRUE(testbed.Up());
  for (const char* host : {"n1", "n2", "n3", "n4"}) ASSERT_EQ(On(testbed, host, kMakeTool), 0);
  const HostProcesses before(testbed.Init("n2"));
  const Rehearsed rehearsed = RehearseOn(testbed, 4, kTool);
  EXPECT_EQ(rehearsed.result.exit_code, 0) << rehearsed.result.out << rehearsed.result.err;
  for (const char* check :
       {"start", "ranks", "counts", "ports", "meeting", "hello", "files", "versions", "disk", "clock"})
    EXPECT_EQ(rehearsed.Outcome(check), "ok") << check;
  EXPECT_EQ(rehearsed.json["hosts"], 4);
  EXPECT_EQ(before.New(), std::vector<pid_t>());
  EXPECT_NE(On(testbed, "n2", "test -e " + testbed.own_folder() + "/run"), 0) << "left on n2";
}

TEST(RehearsalOnHosts, NamesTheHostThatLacksAFile) {
  SKIP_WITHOUT_TESTBED();
  HostsTestbed testbed(3);
  ASSERT_TRUE(testbed.Up());
  for (const char* host : {"n1", "n2", "n3"}) ASSERT_EQ(On(testbed, host, kMakeTool), 0);
  ASSERT_EQ(On(testbed, "n2", "rm /root/data.csv"), 0);
  ASSERT_EQ(On(testbed, "n3", "rm /root/tool"), 0);
  const Rehearsed rehearsed = RehearseOn(testbed, 3, kTool);
  EXPECT_EQ(rehearsed.result.exit_code, 1) << rehearsed.result.err;
  EXPECT_EQ(rehearsed.Failed(), std::set<std::string>{"files"}) << rehearsed.result.out;
  EXPECT_EQ(rehearsed.Who("files"),
            (std::set<std::string>{"worker.2 rank 2 on n2", "worker.4 rank 4 on n3", "worker.5 rank 5 on n3"}));
  EXPECT_NE(rehearsed.Text("files").find("\"/root/data.csv\" is missing, but exists on n1,n3"), std::string::npos)
      << rehearsed.Text("files");
}

TEST(RehearsalOnHosts, NamesTheHostWithAnotherVersion) {
  SKIP_WITHOUT_TESTBED();
  HostsTestbed testbed(3);
  ASSERT_TRUE(testbed.Up());
  for (const char* host : {"n1", "n2", "n3"}) ASSERT_EQ(On(testbed, host, kMakeTool), 0);
  ASSERT_EQ(On(testbed, "n3", "echo '# 2.0' >> /root/tool"), 0);
  const Rehearsed rehearsed = RehearseOn(testbed, 3, kTool);
  EXPECT_EQ(rehearsed.result.exit_code, 1) << rehearsed.result.err;
  EXPECT_EQ(rehearsed.Failed(), std::set<std::string>{"versions"}) << rehearsed.result.out;
  EXPECT_EQ(rehearsed.Who("versions"), std::set<std::string>{"worker.4 rank 4 on n3"});
  EXPECT_NE(rehearsed.Text("versions").find("\"/root/tool\" differs from the one on n[1-2]"), std::string::npos)
      << rehearsed.Text("versions");
}

TEST(RehearsalOnHosts, NamesTheHostWhoseDiskIsFull) {
  SKIP_WITHOUT_TESTBED();
  HostsTestbed testbed(2);
  ASSERT_TRUE(testbed.Up());
  ASSERT_EQ(On(testbed, "n2",
               "mount -t tmpfs -o size=1m,mode=1777 tmpfs /dev/shm && head -c 2000000 /dev/zero > /dev/shm/full; true"),
            0);
  const Rehearsed rehearsed = RehearseOn(testbed, 2, kTwoEach);
  EXPECT_EQ(rehearsed.result.exit_code, 1) << rehearsed.result.err;
  EXPECT_EQ(rehearsed.Failed(), std::set<std::string>{"disk"}) << rehearsed.result.out;
  EXPECT_EQ(rehearsed.Who("disk"), std::set<std::string>{"worker.2 rank 2 on n2"});
  EXPECT_EQ(rehearsed.Text("disk"), "shared memory (/dev/shm) is full: 0 MiB are free\n");
}

TEST(RehearsalOnHosts, NamesTwoHostsThatCannotConnect) {
  SKIP_WITHOUT_TESTBED();
  HostsTestbed testbed(3);
  ASSERT_TRUE(testbed.Up());
  // The login machine is elsewhere: only packets between these two hosts are dropped, without an error.
  ASSERT_EQ(On(testbed, "n2",
               "ip neigh replace 10.77.0.3 lladdr 02:00:00:00:00:99 nud permanent dev "
               "$(ip -o route get 10.77.0.3 | sed 's/.* dev \\([^ ]*\\).*/\\1/')"),
            0);
  const Rehearsed rehearsed = RehearseOn(testbed, 3, kTwoEach);
  EXPECT_EQ(rehearsed.result.exit_code, 1) << rehearsed.result.err;
  EXPECT_EQ(rehearsed.Failed(), std::set<std::string>{"hello"}) << rehearsed.result.out;
  // n2's answers to n3 are dropped as well.
  EXPECT_EQ(rehearsed.Who("hello"), (std::set<std::string>{"worker.2 rank 2 on n2", "worker.3 rank 3 on n2",
                                                           "worker.4 rank 4 on n3", "worker.5 rank 5 on n3"}));
  EXPECT_EQ(rehearsed.Who("hello", "peers"), rehearsed.Who("hello"));
  EXPECT_EQ(rehearsed.Text("hello"), "no answer\nno answer\n");
}

TEST(RehearsalOnHosts, NamesProcessesThatCannotReachTheRendezvousEndpoint) {
  SKIP_WITHOUT_TESTBED();
  HostsTestbed testbed(3);
  ASSERT_TRUE(testbed.Up());
  ASSERT_EQ(On(testbed, "n3", "ip route add unreachable 10.77.0.1/32"), 0);
  const Rehearsed rehearsed = RehearseOn(testbed, 3, kTwoEach);
  EXPECT_EQ(rehearsed.result.exit_code, 1) << rehearsed.result.err;
  EXPECT_EQ(rehearsed.Who("meeting"), (std::set<std::string>{"worker.4 rank 4 on n3", "worker.5 rank 5 on n3"}));
  EXPECT_TRUE(rehearsed.Failed().contains("hello"));
  EXPECT_NE(rehearsed.Text("meeting").find("no route to it"), std::string::npos) << rehearsed.Text("meeting");
}

TEST(RehearsalOnHosts, NamesRankAndHostOfARecipesMistake) {
  SKIP_WITHOUT_TESTBED();
  HostsTestbed testbed(2);
  ASSERT_TRUE(testbed.Up());
  const Rehearsed rehearsed = RehearseOn(
      testbed, 2,
      "    job:workers { per_host = 2, devices = 0, cwd = '/', command = { 'sh' }, each = function(process)\n"
      "      if process.rank == 3 then process.env { RANK = 1, WORLD_SIZE = 3, override = true } end\n    end }");
  EXPECT_EQ(rehearsed.result.exit_code, 1) << rehearsed.result.err;
  EXPECT_EQ(rehearsed.Failed(), (std::set<std::string>{"ranks", "counts"})) << rehearsed.result.out;
  EXPECT_EQ(rehearsed.Who("ranks"), (std::set<std::string>{"worker.1 rank 1 on n1", "worker.3 rank 3 on n2"}));
  EXPECT_EQ(rehearsed.Who("counts"), std::set<std::string>{"worker.3 rank 3 on n2"});
}

TEST(RehearsalOnHosts, ExitsWith3IfAHostCannotBeReached) {
  SKIP_WITHOUT_TESTBED();
  HostsTestbed testbed(2);
  ASSERT_TRUE(testbed.Up());
  ASSERT_TRUE(testbed.Cut("n2"));
  const Rehearsed rehearsed = RehearseOn(testbed, 2, kTwoEach);
  EXPECT_EQ(rehearsed.result.exit_code, 3) << rehearsed.result.out << rehearsed.result.err;
  EXPECT_NE(rehearsed.result.err.find("n2"), std::string::npos) << rehearsed.result.err;
}

TEST(RehearsalOnHosts, CoversA64ProcessPipelineOverFourHosts) {
  SKIP_WITHOUT_TESTBED();
  HostsTestbed testbed(4);
  ASSERT_TRUE(testbed.Up());
  const Rehearsed rehearsed(
      RunCommand({.argv = testbed.Login({MusterProgram(), "rehearse", MUSTER_SOURCE_DIR "/recipes/pipeline.lua",
                                         "hosts=4", "devices_per_host=16", "layers=64", "script=recipes/pipeline.lua",
                                         "--host", "n[1-4]", "--run-dir", testbed.own_folder() + "/run", "--json"}),
                  .env = {"PATH=/usr/bin:/bin", "MUSTER_SSH=" + testbed.ssh(), "HOME=/root", "MUSTER_HOST_DEVICES=16",
                          "XDG_STATE_HOME=" + testbed.own_folder() + "/state"},
                  .cwd = MUSTER_SOURCE_DIR}));
  EXPECT_EQ(rehearsed.json["processes"], 65) << rehearsed.result.out << rehearsed.result.err;
  for (const char* check : {"start", "ranks", "counts", "ports", "meeting", "hello", "files", "disk", "clock"})
    EXPECT_EQ(rehearsed.Outcome(check), "ok") << check;
  std::printf("64 workers on 4 hosts: %s s\n", rehearsed.json["seconds"].dump().c_str());
}

}  // namespace
}  // namespace muster::testing
