// The agent protocol: what head and agent say to each other over one pair of descriptors. Version 10.
//
// Knows messages and frames, not sockets: a frame is a 4-byte little-endian length (at most kMaxFrame)
// followed by an archive (wire/archive/archive.h) of one AgentCommand (head to agent) or AgentMessage (agent to
// head). The first thing an agent writes is kMagic, so that noise of a login shell before it can be skipped; the number
// in it is the version of the protocol, so that an agent of another one is known before anything else is said. One
// below another has no shell before it, and is of that one's version: it writes none.
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
                 DevicesAwaited>;

std::string EncodeFrame(const AgentCommand& command);
std::string EncodeFrame(const AgentMessage& message);
std::optional<AgentCommand> DecodeCommand(std::string_view payload);
std::optional<AgentMessage> DecodeMessage(std::string_view payload);
// Whether a payload is a heartbeat, told from its first byte: those are read and written before everything else
// (wire.h).
bool IsHeadHeartbeat(std::string_view command_payload);
bool IsAgentHeartbeat(std::string_view message_payload);

// How many bytes the payload of a message may have, by its first byte: that tells the kind, if there is such a kind.
std::size_t MostMessageBytes(unsigned char kind);

}  // namespace muster
