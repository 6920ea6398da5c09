// A process that is born in a cgroup: clone3(2) with CLONE_INTO_CGROUP (Linux 5.7), for which Debian 12's C library has
// no function. One that moves into a group, or is moved, waits for the kernel to look at every processor (10 ms and
// more); one that is born there waits for nothing.
//
// Knows registers and that call; does not know what the child does.
#pragma once

#include <cstddef>
#include <cstdint>

#include <sys/types.h>

namespace muster {

struct CloneIntoOrders {
  int group = -1;           // a descriptor of the cgroup's folder (version 2)
  std::uint64_t flags = 0;  // as for clone(2), without a signal's number; CLONE_VM | CLONE_VFORK is needed
  int signal = 0;           // sent to this process at the child's end; 0: none, and wait for it with __WALL
  int* pidfd = nullptr;     // with CLONE_PIDFD
  std::byte* stack = nullptr;
  std::size_t stack_bytes = 0;    // a multiple of 16, above `stack`
  int (*entry)(void*) = nullptr;  // runs in the child, and must end it: it does not return
  void* argument = nullptr;
};

// The child's pid, or minus an errno: ENOSYS also where this is not written for the processor (it is for x86-64).
pid_t CloneInto(const CloneIntoOrders& orders);

}  // namespace muster
