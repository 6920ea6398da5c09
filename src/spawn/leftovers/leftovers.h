// Processes that a run left behind although head and agent are both gone: found by what they carry or by who they were
// recorded to be, and ended. For strangers: here no process is our child.
//
// Knows /proc, signals and pidfds; knows no journal and no run directory. A process is told by its pid with its start
// time, and looked at once more after a pidfd has been opened on it, so that no process that got the number meanwhile
// is signalled. Without pidfds the last look comes right before the signal.
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
  std::string token;                        // beginning of the value of MUSTER_PROCESS: "<run id>/"
  std::vector<ProcessIdentity> identities;  // recorded: agent and processes
  std::string cgroup;                       // the group of the agent; empty: none
  // Only processes of this user, real, effective and saved, are found, and a group is not ended as a whole: for marks
  // that this user wrote and another one acts on.
  std::optional<uid_t> user = std::nullopt;
};

struct Leftover {
  ProcessIdentity process;
  std::string name;     // MUSTER_PROCESS without the run's id, "worker.2.0"; empty: found by identity or group only
  std::string program;  // the kernel's name for it, at most 15 bytes; untrusted

  bool operator==(const Leftover&) const = default;
};

// Everything of the run that lives now, zombies excepted, by pid. Of other users' processes only recorded ones are
// found. This process is never among them.
std::vector<Leftover> FindLeftovers(const LeftoverMarks& marks);

struct LeftoverEnd {
  std::vector<Leftover> found;  // each once
  std::vector<Leftover> left;   // still there at the end
  std::uint32_t killed = 0;     // got SIGKILL
};

// SIGTERM (with SIGCONT) to each, SIGKILL to what is left after the grace and to what appears later, until nothing is
// found or `patience` after the grace is over. Removes the group if it is empty then. Blocks meanwhile.
LeftoverEnd EndLeftovers(const LeftoverMarks& marks, std::chrono::milliseconds grace,
                         std::chrono::milliseconds patience = std::chrono::seconds(5));

}  // namespace muster
