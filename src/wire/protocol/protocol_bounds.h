// Size limits of the messages of the agent protocol (protocol.h). Every text and list of every message has a bound,
// stated by its Fields() (*_fields.h); a missing one does not compile. Readers check bounds before they allocate
// memory, and reject messages that exceed one. Writers truncate texts for users.
#pragma once

#include <cstddef>

namespace muster {

inline constexpr std::size_t kFrameLengthBytes = 4;  // before the payload
inline constexpr std::size_t kMaxFrame = 16U << 20;

namespace protocol_bounds {

// For commands, whose texts may be as long as a frame: the agent trusts the head.
inline constexpr std::size_t kText = kMaxFrame;
inline constexpr std::size_t kList = 1'000'000;

inline constexpr std::size_t kName = 1'024;    // of a port, a role, a kind
inline constexpr std::size_t kHostName = 255;  // or an address
inline constexpr std::size_t kDeviceName = 255;
inline constexpr std::size_t kPath = 4'096;  // PATH_MAX
inline constexpr std::size_t kPhrase = 16U << 10;
inline constexpr std::size_t kWords = 256;  // lists that muster itself makes: mechanisms, limits, drivers
inline constexpr std::size_t kNotes = 256;
inline constexpr std::size_t kPorts = 65'536;
inline constexpr std::size_t kHostProcesses = 65'536;  // of the plan, on one host
inline constexpr std::size_t kHostDevices = 65'536;
inline constexpr std::size_t kCores = 65'536;
inline constexpr std::size_t kVariables = 16'384;
inline constexpr std::size_t kEnvironment = 512U << 10;  // bytes of all variables; Linux starts no process with 2 MiB
inline constexpr std::size_t kFacts = 4'096;             // of one kind, per host

// Of a ProcessDumped (docs/journal.md, states).
inline constexpr std::size_t kDumpProcesses = 8;
inline constexpr std::size_t kDumpThreads = 8;
inline constexpr std::size_t kDumpFrames = 32;
inline constexpr std::size_t kDumpText = 1'024;

}  // namespace protocol_bounds

inline constexpr std::size_t kMostFilePart = 1U << 20;   // of a FileBytes
inline constexpr std::size_t kMostPassedOn = 64U << 10;  // of a FromAgent
inline constexpr std::size_t kMostPathTargets = 1'024;   // of a ProbePaths

}  // namespace muster
