// The local transport: an agent on this machine, started by this process, over a socket pair.
//
// Knows how to start muster-agent and what to do when it is gone; knows nothing of plans. The head is the
// parent of the agent's guard (agent/program/agent_guard.h) and a subreaper: what a lost agent leaves behind is killed
// by the guard, and what that leaves becomes the head's children, and is killed. It is known by its session, which is
// never the head's, since guard and agent are started in sessions of their own.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/system/isolation.h"
#include "base/system/without.h"
#include "spawn/leftovers/descendants.h"
#include "spawn/start/launcher.h"
#include "transport/channel.h"
#include "transport/transport.h"
#include "transport/unchecked_channel.h"
#include "wire/lease/lease.h"

namespace muster {

// muster-agent in the folder of this program; empty if that folder cannot be told.
std::string AgentBeside();

class LocalTransport final : public Transport {
 public:
  // `agent_program`: path of muster-agent; empty: AgentBeside(). `without` holds for the start of the agent and for
  // what the agent does; `faults` ("SITE:ACTION:N") are given to the agent. With kPid the agent
  // and all it starts are in a PID namespace; one that cannot be made is an agent that refuses. Agents begin with the
  // limit of descriptors (RLIMIT_NOFILE) that this process has now, whatever it raises its own to. The lease is for one
  // that does not answer.
  explicit LocalTransport(std::string agent_program = {}, const Without& without = WithoutByEnvironment(),
                          std::vector<std::string> faults = {}, Isolation isolation = Isolation::kNone,
                          std::uint64_t lease_ms = kDefaultLeaseMs);

  std::string_view name() const override { return "local"; }
  std::uint64_t lease_ms() const override { return lease_ms_; }

 private:
  // Connecting makes this process a subreaper and starts the agent. Children that the process has at this moment are
  // its own affair and spared when the agent is lost, agents of this transport too, and so are those in its own
  // session, whenever they began; every other child it has then is taken for the lost agent's. The calling thread must
  // outlive the channel, and so must `io`.
  Result<std::unique_ptr<UncheckedChannel>> Open(boost::asio::io_context& io, const TransportHost& host) override;

  std::string agent_program_;
  Without without_;
  std::vector<std::string> faults_;
  Isolation isolation_;
  std::uint64_t lease_ms_;
  rlimit descriptors_ = {};
  std::shared_ptr<Launcher> launcher_;
  // Children not to be touched; shared with the channels, which take their agents out again.
  std::shared_ptr<std::vector<ProcessIdentity>> spared_;
};

}  // namespace muster
