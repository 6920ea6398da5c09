// Tests host names on the command line: their number, their devices, and the error for a run on this machine.
#include <fstream>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "cli/muster_command.h"

namespace muster::testing {
namespace {

constexpr const char* kPerHostBody = "job:workers { per_host = 1, command = { 'true' } }";

// Returns the hosts of the plan, such as "n1/8 n2/4", or standard error.
std::string HostsAfter(std::vector<std::string> words, const std::string& fields = "") {
  const OneRecipe recipe(kPerHostBody, fields);
  words.insert(words.begin(), {"plan", recipe.path(), "--json"});
  const CommandResult result = Muster(words);
  if (result.exit_code != 0) return result.err;
  const auto plan = nlohmann::json::parse(result.out);
  std::string hosts;
  for (const auto& host : plan["hosts"]) {
    hosts += (hosts.empty() ? "" : " ") + host.value("name", "") + "/" + std::to_string(host["devices"].get<int>());
  }
  return hosts;
}

TEST(NamedHosts, OfTheCommandLineOverrideTheRecipe) {
  const std::string four = "cluster = { hosts = 4, devices_per_host = 2 },";
  EXPECT_EQ(HostsAfter({}, four), "/2 /2 /2 /2");
  EXPECT_EQ(HostsAfter({"--host", "n[1-2]:8,n3"}, four), "n1/8 n2/8 n3/2");
  EXPECT_EQ(HostsAfter({"--host", "a", "--host", "b:1", "devices_per_host=6"}, four), "a/6 b/1");
  EXPECT_EQ(HostsAfter({"--host", "b"}, "cluster = { host_list = 'a:3' },"), "b/1");
  EXPECT_EQ(HostsAfter({}, "cluster = { host_list = 'a:3' },"), "a/3");
}

TEST(NamedHosts, MatchTheRequestedNumber) {
  EXPECT_EQ(HostsAfter({"--host", "n[1-4]:8", "hosts=2"}), "n1/8 n2/8");
  EXPECT_NE(HostsAfter({"--host", "n[1-4]:8", "hosts=5"}).find("hosts = 5, but only 4 are named: n[1-4]:8"),
            std::string::npos);
  EXPECT_EQ(HostsAfter({"--host", "n[1-4]:8", "--exclude", "n[2-3]"}), "n1/8 n4/8");
}

TEST(NamedHosts, ComeFromAFile) {
  const OneRecipe recipe(kPerHostBody, "");
  const std::string file = recipe.path() + ".hosts";
  std::ofstream(file) << "n1 slots=8\nn2 slots=4  # old\n";
  EXPECT_EQ(HostsAfter({"--hostfile", file}), "n1/8 n2/4");
  EXPECT_NE(HostsAfter({"--hostfile", file + ".none"}).find("--hostfile: there is no file"), std::string::npos);
  EXPECT_NE(HostsAfter({"--hostfile", file, "--host", "n1"}).find("--hostfile"), std::string::npos);
  EXPECT_NE(HostsAfter({"--exclude", "n1"}).find("--exclude without --host or --hostfile"), std::string::npos);
}

TEST(NamedHosts, AreSparesIfTheyComeLast) {
  EXPECT_EQ(HostsAfter({"--host", "n[1-4]:8", "--spares", "1"}), "n1/8 n2/8 n3/8");
  EXPECT_EQ(HostsAfter({"--host", "n[1-4]:8", "--spares", "2", "--exclude", "n4"}), "n1/8");
  EXPECT_NE(
      HostsAfter({"--host", "n[1-2]:8", "--spares", "2"}).find("--spares 2, and only 2 hosts are named: n[1-2]:8"),
      std::string::npos);
  EXPECT_NE(HostsAfter({"--spares", "2"}).find("--spares without --host or --hostfile"), std::string::npos);
  EXPECT_NE(HostsAfter({"--host", "n[1-3]:8", "--spares", "1", "hosts=3"}).find("hosts = 3, but only 2 are named"),
            std::string::npos);
  const OneRecipe recipe(kPerHostBody, "");
  const CommandResult with = Muster({"plan", recipe.path(), "--id", "--host", "a:2,b:2", "--spares", "1"});
  const CommandResult without = Muster({"plan", recipe.path(), "--id", "--host", "a:2"});
  EXPECT_EQ(with.out, without.out) << "spares are no part of a plan";
}

TEST(NamedHosts, AreRefusedAsSparesIfTheyCouldReplaceNone) {
  const OneRecipe recipe("job:workers { count = 2, devices = 1, command = { 'true' } }",
                         "cluster = { devices_per_host = 4 },");
  const auto said = [&](const std::string& hosts) {
    const CommandResult result = Muster({"run", recipe.path(), "--host", hosts, "--spares", "1"});
    EXPECT_EQ(result.exit_code, 2) << result.err;
    return result.err;
  };
  EXPECT_NE(said("n[1-2]:8,s1:4").find("s1 is a spare with 4 devices, and every host of the plan has 8 or more"),
            std::string::npos);
  EXPECT_NE(said("n[1-2]:8,s1").find("how many devices has s1?"), std::string::npos);
  EXPECT_NE(said("n1,s1:2").find("s1 is a spare with 2 devices, and every host of the plan has 4 or more"),
            std::string::npos);
}

TEST(NamedHosts, AreNotPartOfThePlansId) {
  const OneRecipe recipe(kPerHostBody, "");
  const CommandResult here = Muster({"plan", recipe.path(), "--id", "--host", "a:2"});
  const CommandResult there = Muster({"plan", recipe.path(), "--id", "--host", "b:2"});
  const CommandResult larger = Muster({"plan", recipe.path(), "--id", "--host", "b:3"});
  EXPECT_EQ(here.out, there.out);
  EXPECT_NE(here.out, larger.out);
}

TEST(NamedHosts, AreThisMachineOrReachedThroughSsh) {
  const OneRecipe recipe(kPerHostBody, "");
  const std::string folder = recipe.path() + ".run";
  const CommandResult here = Muster({"run", recipe.path(), "--host", "localhost", "--run-dir", folder});
  EXPECT_EQ(here.exit_code, 0) << here.err;
  const CommandResult there =
      Muster({"run", recipe.path(), "--host", "n1.example", "--run-dir", folder + "2"}, {"MUSTER_SSH=/bin/false"});
  EXPECT_EQ(there.exit_code, 3);
  EXPECT_NE(there.err.find("n1.example: the command there ended with exit code 1"), std::string::npos) << there.err;
  const CommandResult lease = Muster({"run", recipe.path(), "--host-lease", "10s"});
  EXPECT_EQ(lease.exit_code, 2);
  EXPECT_NE(lease.err.find("--host-lease is given, and the run is on this machine alone"), std::string::npos)
      << lease.err;
}

TEST(ShippedCode, IsRefusedBeforeAnyConnection) {
  const OneRecipe recipe(kPerHostBody, "");
  const TempDir code;
  std::ofstream(code / "train.py") << "print()";
  const std::vector<std::string> elsewhere = {"run",        recipe.path(), "--host",
                                              "n1.example", "--run-dir",   recipe.path() + ".run"};
  const auto refusal = [&](std::vector<std::string> words, const std::vector<std::string>& more) {
    words.insert(words.end(), more.begin(), more.end());
    const CommandResult result = Muster(words, {"MUSTER_SSH=/bin/false"});
    EXPECT_EQ(result.exit_code, 2) << result.err;
    return result.err;
  };
  const auto expect = [](const std::string& said, const std::string& part) {
    EXPECT_NE(said.find(part), std::string::npos) << said;
  };
  expect(refusal({"run", recipe.path()}, {"--ship-code", "."}), "on this machine alone");
  expect(refusal({"run", recipe.path()}, {"--no-preflight"}), "on this machine alone");
  expect(refusal(elsewhere, {"--ship-code", "/missing"}), "there is no such folder");
  expect(refusal(elsewhere, {"--ship-code", code.path(), "--ship-limit", "3x"}), "this is not a size");
  expect(refusal(elsewhere, {"--ship-limit", "3MB"}), "no code is shipped");
  expect(refusal(elsewhere, {"--ship-code", code.path(), "--ship-limit", "1B"}), "are more than the");
}

}  // namespace
}  // namespace muster::testing
