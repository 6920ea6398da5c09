// Finds and kills processes that a run left behind after head and agent are both gone, by their environment or by
// recorded pids. They are not children of this process.
//
// Uses /proc, signals and pidfds; does not depend on journals or run directories. A process is identified by pid and
// start time, and checked again after a pidfd has been opened on it, so that a process that reuses the pid is never
// signalled. Without pidfds the last check comes right before the signal.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <sys/types.h>

#include "spawn/leftovers/descendants.h"

namespace muster {

struct LeftoverMarks {
  std::string token;                        // prefix of the value of MUSTER_PROCESS: "<run id>/"
  std::vector<ProcessIdentity> identities;  // from the record of the run: agent and processes
  std::string cgroup;                       // the agent's group; empty: none
  // If set, only processes of this user (real, effective and saved) are found, and a group is not killed as a whole:
  // for records that this user wrote and another user, such as root, acts on.
  std::optional<uid_t> user = std::nullopt;
};

struct Leftover {
  ProcessIdentity process;
  std::string name;     // MUSTER_PROCESS without the run's id, "worker.2.0"; empty: found by identity or group only
  std::string program;  // the kernel's name for it, at most 15 bytes; untrusted

  bool operator==(const Leftover&) const = default;
};

// All running processes of the run, except zombies, by pid. Processes of other users are found only if they were
// recorded. This process is never included.
std::vector<Leftover> FindLeftovers(const LeftoverMarks& marks);

struct LeftoverEnd {
  std::vector<Leftover> found;  // each once
  std::vector<Leftover> left;   // still there at the end
  std::uint32_t killed = 0;     // got SIGKILL
};

// Sends SIGTERM (with SIGCONT) to each, after the grace period SIGKILL to the remaining and to new ones, until none is
// found or `patience` after the grace period has elapsed. Removes the group if it is empty then. Blocks.
LeftoverEnd EndLeftovers(const LeftoverMarks& marks, std::chrono::milliseconds grace,
                         std::chrono::milliseconds patience = std::chrono::seconds(5));

}  // namespace muster
