// Tests that processes have the environment that the plan shows, for the ways of starting on this machine. Those of
// other hosts, pods, engines and containers are beside the tests of these.
#include <csignal>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include "base/system/unique_fd.h"
#include "conformance/process_environment.h"
#include "support/await.h"
#include "support/file_content.h"
#include "support/processes.h"
#include "support/temp_dir.h"

namespace muster::testing {
namespace {

using Words = std::vector<std::string>;

class EnvironmentHere : public ::testing::Test {
 protected:
  void SetUp() override {
    std::ofstream(folder_ / "site.lua") << kLayersSite;
    WriteRecipe("");
  }

  // `before`: lines of the plan function before those of all layers.
  void WriteRecipe(const std::string& before) const {
    std::ofstream(folder_ / "r.lua")
        << "local muster = require 'muster'\nreturn muster.recipe { name = 'job', framework = 'torch',\n"
           "  cluster = { devices_per_host = 2, device_kind = 'cuda' }, params = { n = muster.int { 1 } },\n"
           "  plan = function(p, job)\n"
        << before << kLayersBody << "\n  end }\n";
  }

  CommandResult Muster(Words words) const {
    words.insert(words.begin(), MusterProgram());
    words.insert(words.end(), {"--site", folder_ / "site.lua"});
    words = WithLayers(std::move(words));
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

  // The environment of the stub of worker.1, which is killed once it has called the listener.
  std::string OfAStub(const UniqueFd& listener) const {
    std::vector<UniqueFd> callers;
    while (AwaitReadable(listener.get())) {
      callers.emplace_back(::accept4(listener.get(), nullptr, nullptr, SOCK_CLOEXEC));
      for (const pid_t pid : ProcessesWith("OF_EACH=6")) {
        const std::string environment = ContentOf("/proc/" + std::to_string(pid) + "/environ");
        if (environment.find(folder_.path()) == std::string::npos) continue;
        ::kill(pid, SIGKILL);
        return environment;
      }
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

// Stubs write nothing of their environment. Those of the workers are kept waiting at their rendezvous endpoint, which
// is a listener of the test, and end with the one whose environment has been read.
TEST_F(EnvironmentHere, IsThatOfThePlanInARehearsal) {
  const UniqueFd listener(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in place = {};
  place.sin_family = AF_INET;
  place.sin_addr.s_addr = ::htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof place;
  auto* const address = reinterpret_cast<sockaddr*>(&place);
  ASSERT_EQ(::bind(listener.get(), address, size), 0);
  ASSERT_EQ(::listen(listener.get(), 8), 0);
  ASSERT_EQ(::getsockname(listener.get(), address, &size), 0);
  WriteRecipe("job:env { MASTER_PORT = " + std::to_string(::ntohs(place.sin_port)) + ", override = true }\n");

  CommandResult rehearsal;
  std::thread rehearsing([&] { rehearsal = Muster({"rehearse", "r.lua", "--within", "1m"}); });
  const std::string environment = OfAStub(listener);
  rehearsing.join();
  ASSERT_NE(environment, "") << rehearsal.out << rehearsal.err;
  ExpectAsPlanned(Planned(), environment);
  ExpectInherited(environment, true);
}

}  // namespace
}  // namespace muster::testing
