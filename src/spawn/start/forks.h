// Copies of this process, and the descriptors that they inherit: directly in a cgroup, by clone3(2) with
// CLONE_INTO_CGROUP (Linux 5.7), for which Debian 12's C library has no function; as a sibling, by clone(2); and in
// the background, without a terminal or a waiting parent. Independent of what the copies do.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include <sys/types.h>
#include <tl/expected.hpp>

#include "base/system/unique_fd.h"
#include "spawn/start/launcher.h"

namespace muster {

// Closes inherited descriptors of a new process.

// Closes every descriptor of this process from `first` on.
void CloseFrom(int first);

// Starts a process directly in a cgroup: clone3(2) with CLONE_INTO_CGROUP (Linux 5.7), for which Debian 12's C library
// has no function. Moving a process into a group costs 10 ms or more, since the kernel synchronises all processors;
// starting it there costs nothing.
//
// Handles registers and that call only; independent of what the child does.

struct CloneIntoOrders {
  int group = -1;           // a descriptor of the cgroup's folder (version 2)
  std::uint64_t flags = 0;  // as for clone(2), without a signal's number; CLONE_VM | CLONE_VFORK is needed
  int signal = 0;           // sent to this process when the child exits; 0: none, and wait for it with __WALL
  int* pidfd = nullptr;     // with CLONE_PIDFD
  std::byte* stack = nullptr;
  std::size_t stack_bytes = 0;    // a multiple of 16, above `stack`
  int (*entry)(void*) = nullptr;  // runs in the child, and must exit instead of returning
  void* argument = nullptr;
};

// The child's pid, or minus an errno: ENOSYS also on processors that are not supported (all but x86-64 and aarch64).
pid_t CloneInto(const CloneIntoOrders& orders);

// Forks a process as its sibling: the copy is a child of the same parent, which waits for
// both.
//
// Uses clone(2); independent of the purpose of the copies.

// Copies this process, with one thread, as a child of this process's parent. Returns 0 in the copy, its pid in this
// process, minus an errno on failure. The copy gets `death_signal` when the parent's thread exits, and exits at once if
// `parent` is no longer its parent. Handlers of pthread_atfork(3) do not run.
pid_t ForkSibling(int death_signal, pid_t parent);

// A copy of this process that does one thing and exits.
class ForkedCopy {
 public:
  // The copy calls `main` with the end of a pipe to this process, and exits with what it returns. It gets
  // `death_signal` when this process exits. Call it with one thread. The error is an errno.
  static tl::expected<ForkedCopy, int> Start(const std::function<int(UniqueFd line)>& main, int death_signal);

  // What the copy has written until it closed its end, which this waits for; at most 64 KiB.
  std::string Words();
  // Without effect once Over() has returned something.
  void Signal(int signal) const;
  // Its exit code, or 128 + n if signal n ended it; nothing while it runs.
  std::optional<int> Over();

 private:
  UniqueFd line_;
  pid_t pid_ = -1;
  std::optional<int> code_;
};

// Takes over a child of this process that a sibling created; nothing if it is not a child, or was already reaped.
std::optional<Spawned> AdoptChild(pid_t pid, const Mechanisms& mechanisms);

// Continues this process in the background: forks, and the new process has no terminal and no waiting parent. Handles
// descriptors and sessions only.

struct Detached {
  bool in_background = false;  // true in the new process
  UniqueFd line;               // a stream socket to the other process, close-on-exec
};

// Forks. The new process leads a session without a terminal; its stdin and stdout are /dev/null, its stderr an unnamed
// file. It keeps only one other descriptor, `line`, so that it holds no pipe open that other processes read. Until
// OutliveCaller it gets SIGTERM when the old process exits. Call it with one thread and no children that matter: they
// stay with the old process. The error is an errno.
tl::expected<Detached, int> DetachFromCaller();

// In the new process: from now on it survives the exit of the old one.
void OutliveCaller();

}  // namespace muster
