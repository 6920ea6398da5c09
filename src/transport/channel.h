// A Channel is a connection to the agent of one host; a Transport knows how an agent comes to run there.
// That is the only question a transport answers: policy is in the plan, decisions are the supervisor's.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <variant>

#include <boost/asio/io_context.hpp>

#include "agent/protocol.h"
#include "base/lease.h"
#include "muster/event.h"
#include "muster/result.h"

namespace muster {

// There is no agent: the last thing ever, instead of AgentReady.
struct AgentUnreachable {
  std::string why;   // a phrase that is the same for all hosts where it is the same: "permission denied"
  std::string hint;  // may be empty
};

// The agent said what does not belong to what it was given (transport/given_to_agent.h). The message is dropped; an
// agent that goes on like this is lost.
struct StrayMessage {
  std::string what;  // a phrase
};

// What arrives from an agent, or AgentLost as the last thing ever if the connection ends without AgentEmpty. Times are
// those of the host's monotonic clock.
using ChannelMessage =
    std::variant<AgentReady, PortsHeld, AgentFailed, ProcessStarted, SpawnFailed, ProcessExited, SignalSent, AgentEmpty,
                 AgentLost, ProcessReady, OutputSeen, FirstOutput, EndEvidence, PortTaken, ProcessDumped, HostDumped,
                 PtyOpened, PtyClosed, PtyBytes, PtyTaken, Allotted, HostActivated, ClockCompared, AgentUnreachable,
                 FileBytes, Inspected, PathsOpen, PathsTried, CodeWanted, CodeTaken, CodeReady, FilesSent, FromAgent,
                 AgentGone, StrayMessage, DevicesAwaited>;

class Channel {
 public:
  using Receiver = std::function<void(ChannelMessage)>;

  virtual ~Channel() = default;
  // Queues the command; never blocks. After the connection ended it does nothing.
  virtual void Send(const AgentCommand& command) = 0;
  // Called on the io_context's thread for every message, in order. Set once, before control returns to the loop.
  virtual void SetReceiver(Receiver receiver) = 0;
  // The agent has to show within the lease that it lives: one that does not (it may be stopped, or hang) is ended with
  // all that it started, and AgentLost says so. With `at_once` a second after it was asked is all that it has. Does
  // nothing where agents show it all the time.
  virtual void ExpectAnswer(bool at_once) { static_cast<void>(at_once); }
};

// A channel as a transport makes it: whatever the agent says comes through.
class UncheckedChannel : public Channel {
 public:
  // Nothing more of the agent is believed. It is ended like one that cannot be understood, and AgentLost, which says
  // why, is the last message. May be called by the receiver; once.
  virtual void BreakOff(const std::string& why) = 0;
};

struct TransportHost {
  std::uint32_t index = 0;  // into Plan::hosts, or among the hosts of a sweep
  std::string name;
};

class Transport {
 public:
  virtual ~Transport() = default;
  virtual std::string_view name() const = 0;
  // How long an agent may be silent.
  virtual std::uint64_t lease_ms() const { return kDefaultLeaseMs; }
  // Starts connecting to the host's agent. Fails only if that cannot even begin. What comes through the channel belongs
  // to what was asked through it.
  Result<std::unique_ptr<Channel>> Connect(boost::asio::io_context& io, const TransportHost& host);

 private:
  virtual Result<std::unique_ptr<UncheckedChannel>> Open(boost::asio::io_context& io, const TransportHost& host) = 0;
};

}  // namespace muster
