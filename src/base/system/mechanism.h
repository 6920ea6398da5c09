// The optional kernel mechanisms, and the set of those that are switched off: for old kernels on which they are faulty,
// and for tests of their substitutes.
//
// Only names and descriptions; each substitute is documented where it is used (spawn/start/launcher.h,
// evaluator/lockdown.h, spawn/leftovers/cgroup.h, agent/logs/log_pipes.h).
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace muster {

enum class Mechanism : std::uint8_t {
  kPidfd,
  kCloseRange,
  kCloneFiles,
  kLandlock,
  kSeccomp,
  kCgroup,
  kCloneCgroup,
  kCollapse,
  kGuard
};

struct MechanismFact {
  std::string_view name;
  std::string_view what;     // its purpose
  std::string_view instead;  // its substitute, and the substitute's name in the journal
};

// In the order of Mechanism; `muster docs mechanisms` shows it.
inline constexpr std::array<MechanismFact, 9> kMechanismFacts = {{
    {"pidfd", "watching, reaping and ending a child by a descriptor (Linux 5.4)",
     "SIGCHLD and the pids of children that are not reaped yet: sigchld"},
    {"close_range", "closing a new process's other descriptors at once (5.9)", "a walk over /proc/self/fd: proc-fd"},
    {"clone_files", "starting a process without copying the descriptor table; needs close_range",
     "the table is copied: copied-files"},
    {"landlock", "taking files and network from the evaluator (5.13)", "seccomp alone"},
    {"seccomp", "ending an evaluator that makes a call it must not", "no more descriptors are available: fd-limit"},
    {"cgroup", "killing all processes of an agent at once (cgroup.kill, 5.14)",
     "killing and reaping all children of the agent until there are none: children"},
    {"clone_cgroup", "starting a process in its cgroup (CLONE_INTO_CGROUP, 5.7)",
     "the agent moves into the group before it starts anything: cgroup-entered"},
    {"collapse_range", "cutting off the head of a log that has a limit, where the file system can (ext4, XFS)",
     "a pipe through the agent, which keeps the log short: log-pipe"},
    {"guard", "a process beside each agent that ends everything if the agent is killed, and the head with it",
     "the head alone; what leaves its parent stays if both are killed, and on other hosts if the agent is"},
}};

}  // namespace muster
