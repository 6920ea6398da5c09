// The messages that a channel delivers: those of the agent, and those that the channel creates itself.
#pragma once

#include <string>
#include <variant>

#include "muster/event.h"
#include "wire/protocol/protocol.h"

namespace muster {

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

// The agent sent a message that does not match what it was given (agent_message_validator.h). The message is dropped;
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
                 AgentSignalled, HostUnheard, HostPaused>;

}  // namespace muster
