// Kills all descendants of this process. As a subreaper it inherits the orphans of its children, also those that left
// their session or double-forked, so that looking at its own children is enough.
//
// Uses /proc and wait; does not know which processes belong to which run. Signals only children of this process that it
// has not waited for: their pids cannot have been reused. That holds as long as no other code in the process waits for
// children in the meantime and SIGCHLD is not ignored.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <sys/types.h>

namespace muster {

// Makes orphaned descendants children of this process (prctl PR_SET_CHILD_SUBREAPER), and SIGCHLD default
// if it was ignored; and shares the list of final commands (final_commands.h) with what it forks. False if the kernel
// refuses.
bool BecomeSubreaper();

// Identifies a process by its pid and start time (field 22 of /proc/PID/stat, in clock ticks since boot), a pair that
// is not reused.
struct ProcessIdentity {
  pid_t pid = 0;
  std::uint64_t start_ticks = 0;

  bool operator==(const ProcessIdentity&) const = default;
};

// The start time that a process started now gets.
std::uint64_t StartTicksNow();

// Nothing if there is no such process. A zombie still has an identity.
std::optional<ProcessIdentity> Identify(pid_t pid);

// The current children of that process, zombies included.
std::vector<pid_t> ChildrenOf(pid_t pid);
// The current children of this process.
std::vector<pid_t> ChildrenNow();

struct KillReport {
  std::uint32_t killed = 0;  // running processes that got SIGKILL
  std::uint32_t reaped = 0;  // waited for, including those that had exited by themselves
  std::vector<pid_t> left;   // did not exit in time (uninterruptible, or of another user)
};

// Kills and reaps every descendant except the children in `keep` and their descendants, in rounds, until none is left
// or `patience` has elapsed; then runs the final commands that are needed. Blocks.
KillReport KillDescendants(const std::vector<ProcessIdentity>& keep,
                           std::chrono::milliseconds patience = std::chrono::seconds(5));

// The same for children for which `keep` returns false.
KillReport KillChildrenBut(const std::function<bool(pid_t)>& keep,
                           std::chrono::milliseconds patience = std::chrono::seconds(5));

// The session of a process, as returned by getsid(2), also of a zombie; nothing if there is no such
// process.
std::optional<pid_t> SessionOf(pid_t pid);

// Kills and reaps every child of this process for which `spare` returns false and that was started with one of these
// variables ("NAME=value") in its environment, and the orphans that it leaves, until none is left or `patience` has
// elapsed. A process that overwrote its environment is not found. Kills marked children of such children, too: the
// monitor of a container carries no mark, and cleans up by itself after its container. Blocks.
KillReport KillMarkedChildren(const std::function<bool(pid_t)>& spare, const std::set<std::string>& marks,
                              std::chrono::milliseconds patience);

}  // namespace muster
