// Messages of the agent protocol: greeting, signs of life and the end of a connection between head and agent.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "muster/event.h"

namespace muster {

inline constexpr std::uint32_t kProtocolVersion = 10;
inline constexpr std::string_view kMagic = "muster-agent/10\n";

// First command: everything the agent must know before it can start processes.
struct Hello {
  std::uint32_t version = kProtocolVersion;
  std::string run_id;
  std::uint32_t host = 0;  // index into Plan::hosts
  std::string logs;        // absolute path of the folder of the logs, if some have a limit; else empty
  // How long the head waits for a word of the agent before it takes the host for lost (wire/lease/lease.h): from the
  // Hello on the agent sends beats, and ends everything if they are not answered. 0: the connection itself is proof of
  // life.
  std::uint64_t lease_ms = 0;
  // The run directory, absolute: opened now, and what the agent makes in it lies below it. Empty: of an agent that
  // makes none of its files.
  std::string run_dir = {};
  // On another host than the head. The run directory holds `probe` with the run's id in it; an agent that does not find
  // that makes the folder, and sends what is written there (FileBytes).
  bool elsewhere = false;
};

// Nothing more will be started: end whatever is left, answer with AgentEmpty, and exit.
struct Finish {
  bool unused = false;
};

// Answer to AgentHeartbeat, at once. To an agent without a lease it is a question, which it answers by an
// AgentHeartbeat of the same number, at once: whether it lives.
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
  std::string cgroup;                   // folder of the group that its processes are in; empty: none
  std::uint32_t descriptors = 0;        // open in the agent
  std::uint64_t memory_kib = 0;         // resident
  MonotonicNs at = 0;
  std::string address;         // by which the host was reached; empty if not over a network
  bool shares_run_dir = true;  // the head's is its own, too
  std::uint32_t cores = 0;     // of the host that the agent may run on
};

// It lives. The number counts from 1, or is that of a question (HeadHeartbeat); what it says of the beat that was
// answered last tells how long the way is.
struct AgentHeartbeat {
  std::uint32_t number = 0;
  MonotonicNs at = 0;
  std::uint32_t answered = 0;   // 0: none was yet
  MonotonicNs answered_at = 0;  // when the answer came
};

// The agent refuses to go on (bad command, other version) and exits.
struct AgentFailed {
  std::string why;
};

}  // namespace muster
