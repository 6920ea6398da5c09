// Interfaces: a Channel is a connection to the agent of one host. It carries commands and messages only: policy is in
// the plan, and the supervisor makes the decisions.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <variant>

#include <boost/asio/io_context.hpp>

#include "muster/event.h"
#include "wire/protocol/protocol.h"

namespace muster {

// The host has no agent: the last message, instead of AgentReady.
struct AgentUnreachable {
  std::string why;   // a phrase, the same for all hosts with the same reason: "permission denied"
  std::string hint;  // may be empty
};

// The agent sent a message that does not match what it was given (transport/agent_message_validator.h). The message is
// dropped; an agent that sends too many of them is given up as lost.
struct StrayMessage {
  std::string what;  // a phrase
};

// A message from an agent. AgentLost is the last one if the connection ends without AgentEmpty. Times are those of the
// host's monotonic clock.
using ChannelMessage =
    std::variant<AgentReady, PortsHeld, AgentFailed, ProcessStarted, SpawnFailed, ProcessExited, SignalSent, AgentEmpty,
                 AgentLost, ProcessReady, OutputSeen, FirstOutput, EndEvidence, PortTaken, ProcessDumped, HostDumped,
                 PtyOpened, PtyClosed, PtyBytes, PtyTaken, ResourcesAllocated, HostActivated, ClockCompared,
                 AgentUnreachable, FileBytes, Inspected, PathsOpen, PathsProbed, CodeMissing, CodeReceived, CodeReady,
                 FilesSent, FromAgent, AgentExited, StrayMessage, DevicesAwaited>;

class Channel {
 public:
  using Receiver = std::function<void(ChannelMessage)>;

  virtual ~Channel() = default;
  // Queues the command; never blocks. Does nothing after the connection has ended.
  virtual void Send(const AgentCommand& command) = 0;
  // Called on the io_context's thread for every message, in order. Set it once, before control returns to the loop.
  virtual void SetReceiver(Receiver receiver) = 0;
  // Requires an answer of the agent within the lease. An agent that does not answer (it may be stopped, or hang) is
  // killed with everything that it started, and AgentLost reports that. With `at_once` it must answer within a second.
  // Does nothing for transports whose agents send heartbeats all the time.
  virtual void ExpectAnswer(bool at_once) { static_cast<void>(at_once); }
};

struct TransportHost {
  std::uint32_t index = 0;  // of the host in Plan::hosts, or among the hosts of a sweep
  std::string name;
};

}  // namespace muster
