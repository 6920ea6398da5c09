#include "spawn/start/clone_into.h"

#include <cerrno>

#include <linux/sched.h>
#include <sys/syscall.h>

namespace muster {

#ifdef __x86_64__

// A child that shares its parent's memory returns from the call on another stack, without this function's frame: it
// must leave by a call before the compiler uses either stack. The parent is suspended meanwhile.
pid_t CloneInto(const CloneIntoOrders& orders) {
  clone_args arguments = {};
  arguments.flags = orders.flags | CLONE_INTO_CGROUP;
  arguments.pidfd = reinterpret_cast<std::uintptr_t>(orders.pidfd);
  arguments.exit_signal = static_cast<std::uint64_t>(orders.signal);
  arguments.stack = reinterpret_cast<std::uintptr_t>(orders.stack);
  arguments.stack_size = orders.stack_bytes;
  arguments.cgroup = static_cast<std::uint64_t>(orders.group);
  long result = SYS_clone3;
  asm volatile(
      "syscall\n\t"
      "testq %%rax, %%rax\n\t"
      "jnz 1f\n\t"
      "xorl %%ebp, %%ebp\n\t"  // the outermost frame (System V ABI, 3.4.1)
      "movq %%rbx, %%rdi\n\t"
      "callq *%%rdx\n\t"
      "ud2\n\t"
      "1:"
      : "+a"(result)
      : "D"(&arguments), "S"(sizeof arguments), "d"(orders.entry), "b"(orders.argument)
      : "rcx", "r11", "cc", "memory");
  return static_cast<pid_t>(result);
}

#else

pid_t CloneInto(const CloneIntoOrders& orders) {
  static_cast<void>(orders);
  return -ENOSYS;
}

#endif

}  // namespace muster
