// Ending everything below this process: as a subreaper it inherits every orphan of its children, also those
// that left their session or were forked twice, so that its own children are all there is to look at.
//
// Knows /proc and wait; does not know which processes are whose. Only children of this process that it has
// not waited for are ever signalled: such a pid cannot have passed to a stranger. That holds as long as
// nobody else in the process waits for children meanwhile and SIGCHLD is not ignored.
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
// if it was ignored. False if the kernel refuses.
bool BecomeSubreaper();

// A process by its pid and start time (field 22 of /proc/PID/stat, in clock ticks since boot), which
// together do not come twice.
struct ProcessIdentity {
  pid_t pid = 0;
  std::uint64_t start_ticks = 0;

  bool operator==(const ProcessIdentity&) const = default;
};

// Nothing if there is no such process. A zombie still has an identity.
std::optional<ProcessIdentity> Identify(pid_t pid);

// The children of that process now, zombies included.
std::vector<pid_t> ChildrenOf(pid_t pid);
// Of this one.
std::vector<pid_t> ChildrenNow();

struct KillReport {
  std::uint32_t killed = 0;  // were alive and got SIGKILL
  std::uint32_t reaped = 0;  // waited for, those that had ended by themselves included
  std::vector<pid_t> left;   // could not be ended in time (uninterruptible, or of another user)
};

// Kills and reaps every descendant except the children in `keep` and what hangs below those, round after
// round until none is left or `patience` is over. Blocks meanwhile.
KillReport KillDescendants(const std::vector<ProcessIdentity>& keep,
                           std::chrono::milliseconds patience = std::chrono::seconds(5));

// The same for children that `keep` does not keep.
KillReport KillChildrenBut(const std::function<bool(pid_t)>& keep,
                           std::chrono::milliseconds patience = std::chrono::seconds(5));

// The session of the process, as getsid(2) tells, also of one that has ended and was not waited for; nothing if there
// is no such process.
std::optional<pid_t> SessionOf(pid_t pid);

// Kills and reaps every child of this process that `spare` does not spare and that carries one of these variables
// ("NAME=value") in the environment it was started with, and what they leave to this process, until none is left or
// `patience` is over. One that changed its environment is not found. Blocks meanwhile.
KillReport KillMarkedChildren(const std::function<bool(pid_t)>& spare, const std::set<std::string>& marks,
                              std::chrono::milliseconds patience);

}  // namespace muster
