// Tests muster doctor over differing hosts of a testbed.
#include <fstream>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "hosts/hosts_testbed.h"

namespace muster::testing {
namespace {

using Json = nlohmann::json;

// Returns the entry whose `key` has that value; null if there is none.
Json Entry(const Json& list, const char* key, const std::string& value) {
  for (const Json& entry : list) {
    if (entry[key] == value) return entry;
  }
  return nullptr;
}

TEST(Doctor, ReportsDifferingAndUnreachableHosts) {
  SKIP_WITHOUT_TESTBED();
  HostsTestbed testbed(4);
  ASSERT_TRUE(testbed.Up());
  const std::string make = "mkdir -p /root/bin; printf '#!/bin/sh\\n' > /root/bin/tool; chmod +x /root/bin/tool";
  for (const char* host : {"n1", "n2"}) {
    ASSERT_EQ(RunCommand({.argv = testbed.On(host, {"sh", "-c", make})}).exit_code, 0);
  }
  const std::string lower = "for sshd in $(pidof sshd); do prlimit --pid $sshd --nofile=500:500; done";
  ASSERT_EQ(RunCommand({.argv = testbed.On("n2", {"sh", "-c", lower})}).exit_code, 0);
  ASSERT_TRUE(testbed.PowerOff("n4"));
  const std::string recipe = testbed.own_folder() + "/recipe.lua";
  std::ofstream(recipe) << "return require \"muster\".recipe { name = 't', plan = function(p, job)\n"
                           "job:workers { per_host = 1, command = { 'tool' } }\nend }\n";

  const CommandResult result = RunCommand({.argv = {MusterProgram(), "doctor", "--host", "n[1-4]", "--json", recipe},
                                           .env = {"PATH=/root/bin:/usr/bin:/bin", "MUSTER_SSH=" + testbed.ssh()},
                                           .cwd = "/"});
  EXPECT_EQ(result.exit_code, 3) << result.err;
  const Json document = Json::parse(result.out);
  for (std::size_t i = 0; i < 4; ++i) EXPECT_EQ(document["hosts"][i]["reached"], i != 3) << document["hosts"][i];
  EXPECT_EQ(Entry(document["faults"], "kind", "unreachable")["hosts"], Json::array({"n4"})) << document["faults"];
  EXPECT_EQ(Entry(document["faults"], "kind", "program")["hosts"], Json::array({"n3"})) << document["faults"];
  EXPECT_TRUE(Entry(document["faults"], "kind", "clock").is_null()) << "they are one clock here";
  EXPECT_FALSE(document["hosts"][0]["clock"].is_null());
  const Json limit = Entry(document["differences"], "subject", "limit nofile");
  ASSERT_FALSE(limit.is_null()) << document["differences"];
  EXPECT_EQ(Entry(limit["variants"], "value", "500 (hard 500)")["hosts"], Json::array({"n2"}));
  const Json tool = Entry(document["differences"], "subject", "program tool");
  ASSERT_FALSE(tool.is_null()) << document["differences"];
  EXPECT_EQ(Entry(tool["variants"], "value", "/root/bin/tool")["hosts"], Json::array({"n1", "n2"}));
}

}  // namespace
}  // namespace muster::testing
