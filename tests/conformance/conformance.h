// Requirements for every transport: the tests of this folder run for each entry of support/transports.h.
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <unistd.h>

#include "conformance/slurm_place.h"
#include "hosts/host_processes.h"
#include "hosts/hosts_testbed.h"
#include "pods/pod_place.h"
#include "pods/stand_in_cluster.h"
#include "spawn/leftovers/leftovers.h"
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
    const std::string_view name = GetParam().name;
    if (name.starts_with("slurm")) {
      SKIP_WITHOUT_SLURM();
      SlurmPlace& slurm = SlurmPlace::Get();
      testbed_ = &slurm.testbed();
      place_.settings.dial.node_variable = slurm.node_variable();
      place_.settings.dial.start = [&slurm](const AgentsToStart& agents) { return slurm.Start(agents); };
    } else if (name.starts_with("kubernetes")) {
      SKIP_WITHOUT_CLUSTER();
      cluster_.emplace();
      place_.settings.dial.folder = cluster_->folder();
      place_.settings.lease_ms = 60'000;
    } else if (!name.starts_with("local")) {
      SKIP_WITHOUT_TESTBED();
      own_testbed_.emplace(1);
      ASSERT_TRUE(own_testbed_->Up());
      testbed_ = &*own_testbed_;
      place_.settings.ssh.program = testbed_->ssh();
      place_.settings.dial.start = [on = testbed_->folder() + "/on"](const AgentsToStart& agents) {
        return AgentStart{{on, agents.nodes.front(), agents.agent, "--dial", agents.dial_file}};
      };
    }
    if (testbed_ != nullptr) {
      const bool dials = !name.starts_with("ssh");
      ASSERT_TRUE(!dials || name.starts_with("dial") || name.starts_with("slurm"))
          << "how does a test reach a host by it?";
      if (dials) login_.emplace(testbed_->Login());
      place_.settings.dial.folder = testbed_->folder() + "/dial";
      place_.settings.lease_ms = 60'000;  // a machine with much else to do is not to be taken for a lost one
      place_.host = "n1";
      place_.parent = testbed_->folder();
      host_ = "/proc/" + std::to_string(testbed_->Init("n1"));
    }
    children_ = ChildrenNow();
    if (testbed_ != nullptr) there_.emplace(testbed_->Init("n1"));
  }

  // Nothing that carries the session's token may be left, no new child of this process, and on a host of its own no
  // process at all that was not there before.
  void ExpectNothingLeft(const AgentSession& session) const {
    EXPECT_TRUE(ProcessesWith(session.token()).empty());
    EXPECT_EQ(ChildrenNow(), children_);
    for (const AgentReady& ready : session.All<AgentReady>()) {
      EXPECT_TRUE(ready.cgroup.empty() || !std::filesystem::exists(ready.cgroup)) << ready.cgroup;
    }
    EXPECT_TRUE(!cluster_ || cluster_->Init() == 0) << "the end of the agent is the end of its pod";
    EXPECT_EQ(there_ ? there_->New() : std::vector<pid_t>(), std::vector<pid_t>());
  }

  // /proc as it is there.
  std::string Proc() const {
    if (cluster_) return "/proc/" + std::to_string(cluster_->Init()) + "/root/proc";
    return testbed_ != nullptr ? host_ + "/root/proc" : "/proc";
  }

  // In the network of the host.
  template <class Result>
  Result There(const std::function<Result()>& what) const {
    std::optional<Result> result;
    std::thread([&] {
      const UniqueFd network(::open((host_ + "/ns/net").c_str(), O_RDONLY | O_CLOEXEC));
      if (testbed_ == nullptr || ::setns(network.get(), CLONE_NEWNET) == 0) result = what();
    }).join();
    if (!result) throw std::runtime_error("the host's network cannot be entered");
    return std::move(*result);
  }
  AgentPlace place_;

 private:
  std::optional<HostsTestbed> own_testbed_;
  const HostsTestbed* testbed_ = nullptr;  // null: the agent is on this machine
  std::optional<StandInCluster> cluster_;
  std::optional<OnNetwork> login_;   // where agents dial back to
  std::string host_ = "/proc/self";  // of the process that the host hangs on
  std::vector<pid_t> children_;
  std::optional<HostProcesses> there_;
};

}  // namespace muster::testing
