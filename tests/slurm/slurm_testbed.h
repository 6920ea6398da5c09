// A real Slurm of simulated nodes (tests/slurm/testbed) for the lifetime of an object: n1, n2, … with a slurmd each,
// and ctl with slurmctld.
//
// It is a testbed of hosts without sshd: nodes and ctl can be cut off, powered off and killed as its hosts can. Login()
// and On() set SLURM_CONF. It ends with the object, and with the test program if that is killed.
#pragma once

#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

#include "hosts/hosts_testbed.h"

#define SKIP_WITHOUT_SLURM() \
  if (!SlurmTestbed::Missing().empty()) GTEST_SKIP() << SlurmTestbed::Missing()

namespace muster::testing {

class SlurmTestbed : public HostsTestbed {
 public:
  // Why this machine cannot run this testbed; empty if it can.
  static const std::string& Missing() {
    static const std::string missing = MissingFor(Program());
    return missing;
  }

  // `options` are those of "testbed up", such as {"--slurm", "SlurmdTimeout=5"}. Throws if it cannot be started.
  explicit SlurmTestbed(int nodes, const std::vector<std::string>& options = {})
      : HostsTestbed(Program(), nodes, options) {}

  // Stop, kill or start slurmd of a node, or slurmctld of "ctl". True on success; each returns once the daemon has
  // exited or was started (slurmctld: listens).
  bool StopDaemon(const std::string& host) { return Do("stop " + host); }    // SIGTERM
  bool CrashDaemon(const std::string& host) { return Do("crash " + host); }  // SIGKILL
  bool StartDaemon(const std::string& host) { return Do("start " + host); }

  // Runs a program on the login machine; returns its output, or its stderr if it failed, without the last newline.
  std::string Ask(std::vector<std::string> argv) const {
    CommandResult answer = RunCommand({.argv = Login(std::move(argv))});
    std::string& text = answer.exit_code == 0 ? answer.out : answer.err;
    if (!text.empty() && text.back() == '\n') text.pop_back();
    return std::move(text);
  }
  // Waits until a node has a state such as "idle", "down*" or "drain", or a job one such as "RUNNING", "PENDING" or
  // "TIMEOUT" (also if it ended less than ten minutes ago). After 2 minutes prints the state on stderr and returns
  // false.
  bool AwaitNode(const std::string& node, const std::string& state) { return Do("await node " + node + " " + state); }
  bool AwaitJob(const std::string& job, const std::string& state) { return Do("await job " + job + " " + state); }

 private:
  static std::string Program() { return std::string(MUSTER_SOURCE_DIR) + "/tests/slurm/testbed"; }
};

}  // namespace muster::testing
