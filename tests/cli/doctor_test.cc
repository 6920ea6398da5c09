// Tests muster doctor on this machine. Checks only values that a recipe determines, since machines differ.
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "cli/muster_command.h"

namespace muster::testing {
namespace {

std::vector<std::string> KeysInOrder(const nlohmann::json& object) {
  std::vector<std::string> keys;
  for (const auto& [key, value] : object.items()) keys.push_back(key);
  return keys;
}

using Words = std::vector<std::string>;

TEST(Doctor, DescribesThisMachine) {
  const CommandResult result = Muster({"doctor", "--json"});
  ASSERT_FALSE(result.out.empty()) << result.err;
  const auto document = nlohmann::json::parse(result.out);
  EXPECT_EQ(result.exit_code, document["ok"] == true ? 0 : 3);
  EXPECT_EQ(KeysInOrder(document),
            (Words{"agents", "differences", "faults", "format", "hosts", "lacks", "ok", "remembered"}));
  ASSERT_EQ(document["hosts"].size(), 1U);
  const auto& host = document["hosts"][0];
  EXPECT_EQ(KeysInOrder(host), (Words{"clock", "facts", "missing", "name", "reached", "why"}));
  EXPECT_EQ(host["reached"], true);
  EXPECT_TRUE(host["missing"].is_null()) << host["missing"];
  const auto& facts = host["facts"];
  EXPECT_EQ(KeysInOrder(facts),
            (Words{"addresses", "cores", "device_kind", "devices", "disks", "drivers", "kernel", "limits", "machine",
                   "memory_bytes", "muster", "programs", "pythons", "root", "system", "trials", "variables"}));
  EXPECT_EQ(KeysInOrder(facts["limits"]), (Words{"core", "memlock", "nofile", "nproc", "stack"}));
  ASSERT_EQ(facts["disks"].size(), 3U);
  EXPECT_EQ(facts["disks"][2]["what"], "/dev/shm");
  EXPECT_EQ(KeysInOrder(facts["programs"]), Words{"python3"});
  EXPECT_EQ(facts["variables"]["PATH"], "/usr/bin:/bin");

  std::vector<std::string> tried;
  for (const auto& trial : facts["trials"]) {
    if (trial["kind"] == "mechanism") tried.push_back(trial["what"]);
  }
  EXPECT_EQ(tried, (Words{"pidfd", "close_range", "clone_cgroup", "landlock", "seccomp", "memfd", "user_namespaces",
                          "subreaper"}));
  for (const char* findings : {"faults", "lacks"}) {
    for (const auto& finding : document[findings]) {
      EXPECT_TRUE(finding["effect"].is_string() && finding["fix"].is_string()) << finding;
    }
  }

  const CommandResult text = Muster({"doctor"});
  for (const char* subject : {"\n  kernel ", "\n  limit nofile ", "\n  free for /tmp ", "\n  variable PATH "}) {
    EXPECT_NE(text.out.find(subject), std::string::npos) << text.out;
  }
}

TEST(Doctor, HidesPossibleSecrets) {
  const CommandResult result = Muster({"doctor", "--json"}, {"NCCL_TOKEN=canary-4711"});
  EXPECT_EQ(result.out.find("canary-4711"), std::string::npos);
  EXPECT_NE(result.out.find("NCCL_TOKEN"), std::string::npos);
}

TEST(Doctor, ReportsWhatThisMachineLacksForAPlan) {
  const OneRecipe recipe("job:workers { per_host = 1, command = { 'no-such-program' } }");
  const CommandResult result = Muster({"doctor", recipe.path()});
  EXPECT_EQ(result.exit_code, 3) << result.err;
  EXPECT_NE(result.out.find("no-such-program cannot be started: No such file or directory"), std::string::npos)
      << result.out;
}

TEST(Doctor, RefusesOptionsWithoutEffect) {
  EXPECT_EQ(Muster({"doctor", "--agent", "/opt/muster-agent"}).exit_code, 2);
  EXPECT_EQ(Muster({"doctor", "--share-devices"}).exit_code, 2);
  const OneRecipe recipe("job:workers { per_host = 1, command = { 'true' } }", "cluster = { hosts = 2 },");
  const CommandResult unnamed = Muster({"doctor", recipe.path()});
  EXPECT_EQ(unnamed.exit_code, 2);
  EXPECT_NE(unnamed.err.find("the plan needs 2 hosts, and none is named"), std::string::npos) << unnamed.err;
}

}  // namespace
}  // namespace muster::testing
