// Tests that processes have the environment that the plan shows, for the ways of starting on this machine. Those of
// other hosts, pods, engines and containers are beside the tests of these.
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "conformance/process_environment.h"
#include "support/file_content.h"
#include "support/temp_dir.h"

namespace muster::testing {
namespace {

using Words = std::vector<std::string>;

class EnvironmentHere : public ::testing::Test {
 protected:
  void SetUp() override {
    std::ofstream(folder_ / "site.lua") << kLayersSite;
    std::ofstream(folder_ / "r.lua")
        << "local muster = require 'muster'\nreturn muster.recipe { name = 'job', framework = 'torch',\n"
           "  cluster = { devices_per_host = 2, device_kind = 'cuda' }, params = { n = muster.int { 1 } },\n"
           "  plan = function(p, job)\n"
        << kLayersBody << "\n  end }\n";
  }

  CommandResult Muster(Words words) const {
    words.insert(words.begin(), MusterProgram());
    words.insert(words.end(), {"--site", folder_ / "site.lua"});
    Words env = {"PATH=/usr/bin:/bin", "HOME=/root", "MUSTER_LEASES=" + (folder_ / "leases"), "MUSTER_HOST_DEVICES=2"};
    env.insert(env.end(), kLayersCaller.begin(), kLayersCaller.end());
    return RunCommand({.argv = words, .env = env, .cwd = folder_.path()});
  }
  std::string Planned(const Words& options = {}) const {
    Words words = {"plan", "r.lua", "--env", "worker:1", "--json"};
    words.insert(words.end(), options.begin(), options.end());
    return Muster(words).out;
  }
  std::string LogBelow(const std::string& folder) const {
    for (const auto& entry : std::filesystem::recursive_directory_iterator(folder_ / folder)) {
      if (entry.path().filename() == "worker.1.0.log") return ContentOf(entry.path());
    }
    return {};
  }

  TempDir folder_;
};

TEST_F(EnvironmentHere, IsThatOfThePlan) {
  const CommandResult run = Muster({"run", "-q", "r.lua", "--run-dir", "run"});
  ASSERT_EQ(run.exit_code, 0) << run.err;
  ExpectAsPlanned(Planned(), LogBelow("run"));
  ExpectInherited(LogBelow("run"), true);
}

TEST_F(EnvironmentHere, IsThatOfThePlanBehindAWrap) {
  const CommandResult run = Muster({"run", "-q", "r.lua", "--run-dir", "run", "--wrap", "worker:1=nice -n 1"});
  ASSERT_EQ(run.exit_code, 0) << run.err;
  ExpectAsPlanned(Planned(), LogBelow("run"));
  ExpectInherited(LogBelow("run"), true);
}

TEST_F(EnvironmentHere, IsThatOfThePlanInATrial) {
  const CommandResult sweep = Muster({"sweep", "-q", "r.lua", "--grid", "n=1"});
  ASSERT_EQ(sweep.exit_code, 0) << sweep.err;
  ExpectAsPlanned(Planned(), LogBelow("sweeps"));
  EXPECT_EQ(EnvironmentIn(LogBelow("sweeps")).count("MUSTER_TRIAL"), 1U);
}

}  // namespace
}  // namespace muster::testing
