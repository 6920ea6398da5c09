// A Channel is a connection to the agent of one host; a Transport knows how an agent comes to run there.
// That is the only question a transport answers: policy is in the plan, decisions are the supervisor's.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <variant>

#include <boost/asio/io_context.hpp>

#include "muster/event.h"
#include "wire/protocol/protocol.h"

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

struct TransportHost {
  std::uint32_t index = 0;  // into Plan::hosts, or among the hosts of a sweep
  std::string name;
};

}  // namespace muster
