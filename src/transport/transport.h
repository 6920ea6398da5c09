// The interfaces of transports: a Transport starts an agent on a host and returns the Channel to it, which carries
// commands and messages only: policy is in the plan, and the supervisor makes the decisions.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <variant>

#include <boost/asio/io_context.hpp>

#include "muster/event.h"
#include "muster/result.h"
#include "wire/connection/lease.h"
#include "wire/protocol/protocol.h"

namespace muster {

// The messages that a channel delivers: those of the agent, and those that the channel creates itself.

// The host has no agent: the last message, instead of AgentReady.
struct AgentUnreachable {
  std::string why;         // a phrase, the same for all hosts with the same reason: "permission denied"
  std::string hint;        // may be empty
  bool abandoned = false;  // nothing is wrong with the host: the connection was not wanted any more
};

// The agent has attested that nothing is left on its host. The last message follows once the agent and the command that
// started it have ended: AgentEmpty with the same content, or AgentLost if its lease expires before. Only from agents
// that dialled back.
struct HostCleared {
  AgentEmpty empty;
};

// Its lease has expired without a word of the agent: AgentLost follows.
struct HostUnheard {};

// The agent is silent because its host is paused, as the engine says; it is not lost.
struct HostPaused {
  std::string phrase;  // "slurm job 12 is suspended"; empty: the agent is heard again
};

// The agent sent a message that does not match what it was given (transport/checked_channel.h). The message is dropped;
// an agent that sends too many of them is given up as lost.
struct StrayMessage {
  std::string what;  // a phrase
};

// A message from an agent. AgentLost is the last one if the connection ends without AgentEmpty. Times are those of the
// host's monotonic clock.
using ChannelMessage =
    std::variant<AgentReady, PortsHeld, AgentFailed, ProcessStarted, SpawnFailed, ProcessExited, SignalSent, AgentEmpty,
                 AgentLost, ProcessReady, OutputSeen, FirstOutput, EndEvidence, PortTaken, ProcessDumped, HostDumped,
                 PtyOpened, PtyClosed, PtyBytes, PtyTaken, ResourcesAllocated, HostActivated, ClockCompared,
                 AgentUnreachable, HostCleared, FileBytes, Inspected, PathsOpen, PathsProbed, CodeMissing, CodeReceived,
                 CodeReady, FilesSent, FromAgent, AgentExited, StrayMessage, DevicesAwaited, UsageSampled,
                 AgentSignalled, DiskFilled, HostUnheard, HostPaused>;

// Interfaces: a Channel is a connection to the agent of one host. It carries commands and messages only: policy is in
// the plan, and the supervisor makes the decisions.

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
  // A drill: holds the connection as a cut cable would, or lets it go on. Returns whether it can: false where nothing
  // but a pair of descriptors is between head and agent, or somebody else carries the connection.
  virtual bool Hold(bool held) {
    static_cast<void>(held);
    return false;
  }
};

struct TransportHost {
  std::uint32_t index = 0;  // of the host in Plan::hosts, or among the hosts of a sweep
  std::string name;
};

// A channel whose messages have not been checked against its commands.

// A channel as a transport creates it: delivers every message of the agent.
class UncheckedChannel : public Channel {
 public:
  // Stops trusting the agent, and ends it like one that sends garbage; AgentLost with this reason is the last message.
  // May be called by the receiver; once.
  virtual void BreakOff(const std::string& why) = 0;
};

// The interface of a transport: it starts an agent on a host and returns the channel to it.
class Transport {
 public:
  virtual ~Transport() = default;
  virtual std::string_view name() const = 0;
  // Whether its agents run on named hosts; false: on this machine alone.
  virtual bool remote() const { return true; }
  // How long an agent may be silent, in ms.
  virtual std::uint64_t lease_ms() const { return kDefaultLeaseMs; }
  // The latest output on stderr of the commands that started agents for many hosts at a time, as far as they write it
  // within that time, which this blocks for if they run; untrusted.
  virtual std::string StartWords(std::chrono::milliseconds within) const {
    static_cast<void>(within);
    return {};
  }
  // Starts the agents of all hosts connected so far at once. Without this call, a transport whose command starts many
  // agents runs it in the next turn of the loop.
  virtual void StartAgents() {}
  // Starts connecting to the host's agent. Fails only if the attempt cannot even begin. The channel delivers only
  // messages that match its commands.
  Result<std::unique_ptr<Channel>> Connect(boost::asio::io_context& io, const TransportHost& host);

 private:
  virtual Result<std::unique_ptr<UncheckedChannel>> Open(boost::asio::io_context& io, const TransportHost& host) = 0;
};

}  // namespace muster
