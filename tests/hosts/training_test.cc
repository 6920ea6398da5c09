// Tests the shipped recipes, unchanged, over four hosts: they complete a real training.
#include "hosts/training.h"

#include <set>
#include <string>

#include <gtest/gtest.h>

namespace muster::testing {
namespace {

const std::set<std::string> kFour = {"n1", "n2", "n3", "n4"};

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
