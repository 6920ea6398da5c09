// Kills what processes leave behind: all descendants of this process, the processes of a run whose head and agent are
// gone, and, by commands, what is left outside the process table, such as the records of containers. Uses /proc,
// signals and pidfds; does not depend on journals or run directories.
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

// Kills all descendants of this process. As a subreaper it inherits the orphans of its children, also those that left
// their session or double-forked, so that looking at its own children is enough.
//
// Uses /proc and wait; does not know which processes belong to which run. Signals only children of this process that it
// has not waited for: their pids cannot have been reused. That holds as long as no other code in the process waits for
// children in the meantime and SIGCHLD is not ignored.

// Makes orphaned descendants children of this process (prctl PR_SET_CHILD_SUBREAPER), and SIGCHLD default
// if it was ignored; and shares the list of final commands with what it forks. False if the kernel
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

// Commands that remove what processes leave outside the process table, such as the records of containers. They run
// after the processes have been killed, even if the process that started them was killed as well.
//
// The list is memory that a process shares with all that it forks later: an agent's guard runs the commands of a killed
// agent, a standing agent those of a killed sub-agent. Independent of what the commands do.
class FinalCommands {
 public:
  // Creates the list; a later call, also in a forked process, does nothing. Without memory for it nothing is
  // remembered.
  static void Share();

  // A process that needs the command has been started by this process. False if the command is longer than 4000 bytes
  // or the list of 64 commands is full.
  static bool Begun(const std::vector<std::string>& command);
  // Such a process has ended in a way that leaves nothing.
  static void Ended(const std::vector<std::string>& command);

  // Runs and forgets each command that is needed by a process of this process, or of one that has exited: with this
  // process's environment, without output, at most `patience` each. Returns how many were run. Blocks.
  static std::uint32_t RunNeeded(std::chrono::milliseconds patience = std::chrono::seconds(20));
};

// Finds and kills processes that a run left behind after head and agent are both gone, by their environment or by
// recorded pids. They are not children of this process.
//
// Uses /proc, signals and pidfds; does not depend on journals or run directories. A process is identified by pid and
// start time, and checked again after a pidfd has been opened on it, so that a process that reuses the pid is never
// signalled. Without pidfds the last check comes right before the signal.

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
