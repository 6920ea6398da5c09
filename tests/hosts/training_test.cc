// Tests the shipped recipes, unchanged, over four hosts: they complete a real training.
#include <set>
#include <string>

#include <gtest/gtest.h>

#include "hosts/hosts_run.h"

namespace muster::testing {
namespace {

// Returns the hosts that ran processes of the role.
std::set<std::string> HostsOf(HostsRun& run, const std::string& role) {
  std::set<std::string> hosts;
  const json report = run.Report();
  for (const json& process : report["processes"]) {
    if (process["role"] == role) hosts.insert(process["host"].get<std::string>());
  }
  return hosts;
}

const std::set<std::string> kFour = {"n1", "n2", "n3", "n4"};

// Returns the number after these words; -1 if they do not occur.
double NumberAfter(const std::string& text, const std::string& words) {
  const std::size_t at = text.rfind(words);
  return at == std::string::npos ? -1 : std::stod(text.substr(at + words.size()));
}

TEST(ParameterServer, TrainsOverFourHosts) {
  SKIP_WITHOUT_TESTBED();
  HostsTestbed testbed(4);
  ASSERT_TRUE(testbed.Up());
  const HostsBefore before(testbed, {"n1", "n2", "n3", "n4"});
  HostsRun run(testbed, RecipeFile{"recipes/parameter_server.lua"}, {"--host", "n[1-4]", "hosts=4"});
  ASSERT_EQ(run.Result().exit_code, 0) << run.Result().out << run.Result().err;
  EXPECT_EQ(HostsOf(run, "worker"), kFour);
  EXPECT_EQ(HostsOf(run, "server").size(), 2U);
  EXPECT_EQ(HostsOf(run, "scheduler"), std::set<std::string>{"n1"});
  EXPECT_GT(NumberAfter(run.Log("worker.0"), "test accuracy "), 0.93) << run.Log("worker.0");
  EXPECT_EQ(run.Report()["receipt"]["reaped"], 7);
  before.ExpectNothingLeft(run);
}

bool HasTorch() {
  static const bool has = RunCommand({.argv = {"/usr/bin/python3", "-c", "import torch.distributed"}}).exit_code == 0;
  return has;
}

// The ranks average their gradients, so all end with the same loss.
void ExpectOneLoss(const HostsRun& run) {
  std::set<std::string> losses;
  for (int rank = 0; rank < 4; ++rank) {
    const std::string log = run.Log("worker." + std::to_string(rank));
    const std::string begin = "rank " + std::to_string(rank) + " of 4: ";
    const std::size_t at = log.find(begin);
    ASSERT_NE(at, std::string::npos) << log;
    losses.insert(log.substr(at + begin.size()));
  }
  ASSERT_EQ(losses.size(), 1U);
  EXPECT_LT(NumberAfter(*losses.begin(), "loss "), 0.6) << "guessing costs 2.3";
  EXPECT_GT(NumberAfter(*losses.begin(), "accuracy "), 0.9) << *losses.begin();
}

TEST(TorchOverHosts, TrainsOverFour) {
  SKIP_WITHOUT_TESTBED();
  if (!HasTorch()) GTEST_SKIP() << "/usr/bin/python3 has no PyTorch (tools/setup --all)";
  HostsTestbed testbed(4);
  ASSERT_TRUE(testbed.Up());
  const HostsBefore before(testbed, {"n1", "n2", "n3", "n4"});
  HostsRun run(testbed, RecipeFile{"recipes/torch_ddp.lua"}, {"--host", "n[1-4]", "hosts=4", "workers=4"});
  ASSERT_EQ(run.Result().exit_code, 0) << run.Result().out << run.Result().err;
  EXPECT_EQ(HostsOf(run, "worker"), kFour);
  ExpectOneLoss(run);
  before.ExpectNothingLeft(run);
}

// As on a fresh Debian, the host's own name resolves to an address that other hosts cannot reach.
TEST(TorchOverHosts, TrainsWithLoopbackHostNamesIfGlooIsGivenTheInterface) {
  SKIP_WITHOUT_TESTBED();
  if (!HasTorch()) GTEST_SKIP() << "/usr/bin/python3 has no PyTorch (tools/setup --all)";
  HostsTestbed testbed(4);
  ASSERT_TRUE(testbed.Up());
  for (const std::string& host : kFour) {
    const std::string hosts =
        "printf '127.0.0.1 localhost\\n127.0.1.1 " + host + "\\n' > /run/hosts && mount --bind /run/hosts /etc/hosts";
    ASSERT_EQ(RunCommand({.argv = testbed.On(host, {"sh", "-c", hosts})}).exit_code, 0);
  }
  HostsRun run(testbed, RecipeFile{"recipes/torch_ddp.lua", {"GLOO_SOCKET_IFNAME=eth0"}},
               {"--host", "n[1-4]", "hosts=4", "workers=4"});
  ASSERT_EQ(run.Result().exit_code, 0) << run.Result().out << run.Result().err;
  ExpectOneLoss(run);
}

}  // namespace
}  // namespace muster::testing
