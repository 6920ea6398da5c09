// Starts a process directly in a cgroup: clone3(2) with CLONE_INTO_CGROUP (Linux 5.7), for which Debian 12's C library
// has no function. Moving a process into a group costs 10 ms or more, since the kernel synchronises all processors;
// starting it there costs nothing.
//
// Handles registers and that call only; independent of what the child does.
#pragma once

#include <cstddef>
#include <cstdint>

#include <sys/types.h>

namespace muster {

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

// The child's pid, or minus an errno: ENOSYS also on processors that are not supported (all but x86-64).
pid_t CloneInto(const CloneIntoOrders& orders);

}  // namespace muster
