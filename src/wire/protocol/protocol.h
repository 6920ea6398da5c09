// The agent protocol: the messages that head and agent exchange over one pair of descriptors. Its version is
// kProtocolVersion.
//
// Messages and frames only, no sockets: a frame is a 4-byte little-endian length (at most kMaxFrame) followed by an
// archive (wire/archive/archive.h) of one AgentCommand (head to agent) or AgentMessage (agent to head). An agent first
// writes kMagic, so that the reader can skip output of a login shell before it. The number in the magic is the protocol
// version, so that a mismatch is detected before the first message. A sub-agent writes no magic: no shell precedes it,
// and it has the version of the agent above it.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "muster/event.h"
#include "wire/protocol/activation_messages.h"
#include "wire/protocol/code_messages.h"
#include "wire/protocol/connection_messages.h"
#include "wire/protocol/device_messages.h"
#include "wire/protocol/dump_messages.h"
#include "wire/protocol/file_messages.h"
#include "wire/protocol/inspection_messages.h"
#include "wire/protocol/port_messages.h"
#include "wire/protocol/start_messages.h"
#include "wire/protocol/sub_agent_messages.h"
#include "wire/protocol/terminal_messages.h"
#include "wire/protocol/usage_messages.h"

namespace muster {

using AgentCommand =
    std::variant<Hello, DefineEnvironment, HoldPorts, StartProcess, StopProcesses, Finish, RequestOutput, TakeDump,
                 PtyBytes, PtyTaken, PtyResized, AllocateResources, Activate, HeadHeartbeat, PlaceFile, Inspect,
                 OpenPaths, ProbePaths, ClosePaths, OfferCode, CodeBytes, FilesStored, OpenAgent, ToAgent, CloseAgent>;

using AgentMessage =
    std::variant<AgentReady, PortsHeld, AgentFailed, ProcessStarted, SpawnFailed, ProcessExited, SignalSent, AgentEmpty,
                 ProcessReady, OutputSeen, FirstOutput, EndEvidence, PortTaken, ProcessDumped, HostDumped, PtyOpened,
                 PtyClosed, PtyBytes, PtyTaken, ResourcesAllocated, HostActivated, AgentHeartbeat, FileBytes, Inspected,
                 PathsOpen, PathsProbed, CodeMissing, CodeReceived, CodeReady, FilesSent, FromAgent, AgentExited,
                 DevicesAwaited, UsageSampled, AgentSignalled>;

std::string EncodeFrame(const AgentCommand& command);
std::string EncodeFrame(const AgentMessage& message);
std::optional<AgentCommand> DecodeCommand(std::string_view payload);
std::optional<AgentMessage> DecodeMessage(std::string_view payload);
// Whether a payload is a heartbeat, determined from its first byte: heartbeats are read and written before all other
// messages (wire.h).
bool IsHeadHeartbeat(std::string_view command_payload);
bool IsAgentHeartbeat(std::string_view message_payload);

// Maximum size of a message payload in bytes, by its first byte, which is the kind; for unknown kinds a default.
std::size_t MostMessageBytes(unsigned char kind);

}  // namespace muster
