// The local transport: starts an agent on this machine, connected by a socket pair, supervises its process, and
// cleans up after it. The head is the parent of the agent's guard and a subreaper, so that no process of a lost agent
// remains. Independent of plans.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/system/mechanism.h"
#include "spawn/leftovers/leftovers.h"
#include "spawn/start/launcher.h"
#include "transport/transport.h"
#include "wire/connection/lease.h"

namespace muster {

// The local transport: starts an agent on this machine, connected by a socket pair, and cleans up after it.
//
// Independent of plans. The head is the parent of the agent's guard (agent/program/agent_guard.h) and a subreaper: the
// guard kills the processes that a lost agent leaves; processes that the guard leaves become children of the head,
// which kills them. The head recognises such children by their session, which is never its own, since guard and agent
// are started in sessions of their own.

// The path of muster-agent in the folder of this program; empty if the folder is unknown.
std::string AgentBeside();

// The architecture of this machine, as `uname -m` prints it: "x86_64".
std::string OwnMachine();
// The folder of agents for hosts of other architectures, <prefix>/libexec/muster; each is
// <folder>/<machine>/muster-agent.
std::string ForeignAgentsFolder();
// The architectures for which there is one, sorted.
std::vector<std::string> ForeignAgents();
// Whether a text is the name of an architecture: letters, digits and `_`, at most 32.
bool IsMachineName(std::string_view text);

class LocalTransport final : public Transport {
 public:
  // `agent_program`: path of muster-agent; empty: AgentBeside(). `without` applies to the start of the agent and to the
  // agent itself; `faults` ("SITE:ACTION:N") are passed to the agent. With kPid the agent and its processes are in a
  // PID namespace; if that cannot be created, the agent refuses. Agents start with the limit of descriptors
  // (RLIMIT_NOFILE) that this process has now, even if it raises its own later. The lease is the time for an agent to
  // answer.
  explicit LocalTransport(std::string agent_program = {}, const Without& without = WithoutByEnvironment(),
                          std::vector<std::string> faults = {}, Isolation isolation = Isolation::kNone,
                          std::uint64_t lease_ms = kDefaultLeaseMs);

  std::string_view name() const override { return "local"; }
  bool remote() const override { return false; }
  std::uint64_t lease_ms() const override { return lease_ms_; }

 private:
  // Makes this process a subreaper and starts the agent. When the agent is lost, these children of this process are
  // spared: those that exist now, the agents of this transport, and those in the process's own session, whenever
  // they started. Every other child counts as the lost agent's. The calling thread and `io` must outlive the
  // channel.
  Result<std::unique_ptr<UncheckedChannel>> Open(boost::asio::io_context& io, const TransportHost& host) override;

  std::string agent_program_;
  Without without_;
  std::vector<std::string> faults_;
  Isolation isolation_;
  std::uint64_t lease_ms_;
  rlimit descriptors_ = {};
  std::shared_ptr<Launcher> launcher_;
  // Children that must not be killed; shared with the channels, each of which removes its agent at the end.
  std::shared_ptr<std::vector<ProcessIdentity>> spared_;
};

}  // namespace muster
