// Requirements for every transport: the tests of this folder run for each entry of the registry.
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <unistd.h>

#include "hosts/host_processes.h"
#include "hosts/hosts_testbed.h"
#include "spawn/leftovers/descendants.h"
#include "support/agent_session.h"
#include "support/on_network.h"
#include "support/processes.h"
#include "support/sub_agent_transport.h"

namespace muster::testing {

// The agent runs on this machine, or on a host of a testbed. Tests see that host as they see their own: it has the
// session's folder under the same path, and its processes are below them in the tree of PID namespaces.
class Conformance : public ::testing::TestWithParam<TransportEntry> {
 protected:
  void SetUp() override {
    if (!GetParam().name.starts_with("local")) {
      SKIP_WITHOUT_TESTBED();
      testbed_.emplace(1);
      ASSERT_TRUE(testbed_->Up());
      if (GetParam().name.starts_with("ssh")) {
        place_.settings.ssh.program = testbed_->ssh();
      } else {
        ASSERT_TRUE(GetParam().name.starts_with("dial")) << "which host is a test to reach by it?";
        login_.emplace(testbed_->Login());
        place_.settings.dial.folder = testbed_->folder() + "/dial";
        place_.settings.dial.start = [on = testbed_->folder() + "/on"](const AgentsToStart& agents) {
          return AgentStart{{on, agents.nodes.front(), agents.agent, "--dial", agents.dial_file}};
        };
      }
      place_.settings.lease_ms = 60'000;  // a machine with much else to do is not to be taken for a lost one
      place_.host = "n1";
      place_.parent = testbed_->folder();
      host_ = "/proc/" + std::to_string(testbed_->Init("n1"));
    }
    children_ = ChildrenNow();
    if (testbed_) there_.emplace(testbed_->Init("n1"));
  }

  // Nothing that carries the session's token may be left, no new child of this process, and on a host of its own no
  // process at all that was not there before.
  void ExpectNothingLeft(const AgentSession& session) const {
    EXPECT_TRUE(ProcessesWith(session.token()).empty());
    EXPECT_EQ(ChildrenNow(), children_);
    for (const AgentReady& ready : session.All<AgentReady>()) {
      EXPECT_TRUE(ready.cgroup.empty() || !std::filesystem::exists(ready.cgroup)) << ready.cgroup;
    }
    EXPECT_EQ(there_ ? there_->New() : std::vector<pid_t>(), std::vector<pid_t>());
  }

  // /proc as it is there.
  std::string Proc() const { return testbed_ ? host_ + "/root/proc" : "/proc"; }

  // In the network of the host.
  template <class Result>
  Result There(const std::function<Result()>& what) const {
    std::optional<Result> result;
    std::thread([&] {
      const UniqueFd network(::open((host_ + "/ns/net").c_str(), O_RDONLY | O_CLOEXEC));
      if (!testbed_ || ::setns(network.get(), CLONE_NEWNET) == 0) result = what();
    }).join();
    if (!result) throw std::runtime_error("the host's network cannot be entered");
    return std::move(*result);
  }
  AgentPlace place_;

 private:
  std::optional<HostsTestbed> testbed_;
  std::optional<OnNetwork> login_;   // where agents dial back to
  std::string host_ = "/proc/self";  // of the process that the host hangs on
  std::vector<pid_t> children_;
  std::optional<HostProcesses> there_;
};

}  // namespace muster::testing
