// The optional kernel mechanisms: their names and substitutes, the set of those that are switched off, and the
// isolation of an agent's processes that `muster run --isolate` adds.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <tl/expected.hpp>

namespace muster {

// The optional kernel mechanisms, and the set of those that are switched off: for old kernels on which they are faulty,
// and for tests of their substitutes.
//
// Only names and descriptions; each substitute is documented where it is used (spawn/start/launcher.h,
// evaluator/child.h, spawn/leftovers/confinement.h, agent/parts/process_logs.h).

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

// The set of kernel mechanisms that are switched off: for old kernels on which they are faulty, and for tests of their
// substitutes.

class Without {
 public:
  void Add(Mechanism mechanism) { bits_ |= Bit(mechanism); }
  void Add(const Without& other) { bits_ |= other.bits_; }
  bool Has(Mechanism mechanism) const { return (bits_ & Bit(mechanism)) != 0; }
  bool empty() const { return bits_ == 0; }

  bool operator==(const Without&) const = default;

 private:
  static unsigned Bit(Mechanism mechanism) { return 1U << static_cast<unsigned>(mechanism); }

  unsigned bits_ = 0;
};

// "pidfd,cgroup": the format that ParseWithout reads.
std::string WithoutText(const Without& without);

// Parses names joined by commas; the error is the first unknown word. An empty text switches nothing off.
tl::expected<Without, std::string> ParseWithout(std::string_view names);

inline constexpr const char* kWithoutVariable = "MUSTER_WITHOUT";
// Reads the environment variable; empty if it is not set or holds an unknown word.
Without WithoutByEnvironment();

// How an agent's processes are isolated besides their process groups (muster run --isolate).

enum class Isolation : std::uint8_t {
  kNone,
  kPid  // a PID namespace: the kernel kills everything in it when its init, the agent, ends
};

// "none", "pid"
constexpr std::string_view IsolationName(Isolation isolation) { return isolation == Isolation::kPid ? "pid" : "none"; }

constexpr std::optional<Isolation> ParseIsolation(std::string_view name) {
  for (const Isolation isolation : {Isolation::kNone, Isolation::kPid}) {
    if (name == IsolationName(isolation)) return isolation;
  }
  return std::nullopt;
}

}  // namespace muster
