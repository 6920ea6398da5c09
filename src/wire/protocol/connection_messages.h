// Messages of the agent protocol: greeting, heartbeats and the end of a connection between head and agent.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "muster/event.h"

namespace muster {

#define MUSTER_PROTOCOL_VERSION 13
#define MUSTER_TEXT_OF(number) #number
#define MUSTER_PROTOCOL_MAGIC(number) "muster-agent/" MUSTER_TEXT_OF(number) "\n"

inline constexpr std::uint32_t kProtocolVersion = MUSTER_PROTOCOL_VERSION;
inline constexpr std::string_view kMagic = MUSTER_PROTOCOL_MAGIC(MUSTER_PROTOCOL_VERSION);

#undef MUSTER_PROTOCOL_MAGIC
#undef MUSTER_TEXT_OF

// First command: everything that the agent must know before it can start processes.
struct Hello {
  std::uint32_t version = kProtocolVersion;
  std::string run_id;
  std::uint32_t host = 0;  // index into Plan::hosts
  std::string logs;        // absolute path of the log folder, if any log has a limit; else empty
  // How long the head waits without a message before it considers the agent lost (wire/lease/lease.h). After Hello the
  // agent sends heartbeats, and kills all its processes if they are not answered. 0: no heartbeats; only the end of the
  // connection counts.
  std::uint64_t lease_ms = 0;
  // The run directory, absolute. The agent opens it now and creates its files below it. Empty: the agent creates no
  // files of its own.
  std::string run_dir = {};
  // Whether the agent is on another host than the head. The run directory contains `probe`, which holds the run's id;
  // an agent that does not find it creates the folder, and sends the files written there to the head (FileBytes).
  bool elsewhere = false;
  // The first interval of the samples of resource usage (UsageSampled). 0: none.
  std::uint64_t usage_ms = 0;
  std::string device_kind = {};  // of the devices that processes are given (base/system/host_devices.h), or empty
};

// Nothing more will be started: kill all remaining processes, answer with AgentEmpty, and exit.
struct Finish {
  bool unused = false;
};

// Answers an AgentHeartbeat, immediately. An agent without a lease takes it as a liveness check, and answers
// immediately with an AgentHeartbeat of the same number.
struct HeadHeartbeat {
  std::uint32_t number = 0;
};

// Answer to Hello.
struct AgentReady {
  std::uint32_t version = kProtocolVersion;
  std::int32_t pid = 0;
  std::uint64_t start_ticks = 0;
  std::string host_name;
  std::vector<std::string> mechanisms;  // "pidfd", "close_range", "clone-files", "subreaper", "log-pipe", …
  std::string cgroup;                   // folder of the cgroup of its processes; empty: none
  std::uint32_t descriptors = 0;        // number of open descriptors in the agent
  std::uint64_t memory_kib = 0;         // resident memory
  MonotonicNs at = 0;
  std::string address;         // address of the host in the connection; empty if not over a network
  bool shares_run_dir = true;  // whether the agent sees the head's run directory
  std::uint32_t cores = 0;     // number of processor cores that the agent may use
};

// Sign of life. `number` counts from 1, or repeats that of a liveness check (HeadHeartbeat). The head measures the
// round-trip time from `answered` and `answered_at`.
struct AgentHeartbeat {
  std::uint32_t number = 0;
  MonotonicNs at = 0;
  std::uint32_t answered = 0;   // last heartbeat that the head answered; 0: none yet
  MonotonicNs answered_at = 0;  // when that answer arrived
};

// The engine that started the agent sent it this signal: the notice of an end, which the head decides about. An agent
// that an engine started, and whose head answers, goes on (docs/supervision.md).
struct AgentSignalled {
  std::int32_t signal = 0;
};

// The agent exits because of an error (invalid command, other protocol version).
struct AgentFailed {
  std::string why;
};

}  // namespace muster
