// old_kernel PROGRAM [ARGUMENT…]: runs the program, found on PATH, as on a kernel of 2018: system calls that Linux 4.18
// does not have return ENOSYS. What that kernel would silently ignore kills the process instead. For tests.
#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <iterator>

#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/sched.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace {

// All architectures number the calls that were added since 5.1 in the same way, beginning with pidfd_send_signal.
constexpr unsigned kFirstNewCall = 424;
constexpr unsigned kByPidfd = 3;  // P_PIDFD of waitid(2), Linux 5.4; before: EINVAL

constexpr sock_filter Load(std::size_t offset) {
  return BPF_STMT(BPF_LD | BPF_W | BPF_ABS, static_cast<unsigned>(offset));
}
constexpr sock_filter Return(unsigned action) { return BPF_STMT(BPF_RET | BPF_K, action); }
// Skips that many instructions if the loaded value does not fulfil the condition.
constexpr sock_filter Unless(unsigned short condition, unsigned value, unsigned char skipped) {
  return BPF_JUMP(static_cast<unsigned short>(BPF_JMP | BPF_K | condition), value, 0, skipped);
}

constexpr std::size_t kLowArgument = offsetof(seccomp_data, args);  // the first argument, on little-endian machines

sock_filter filter[] = {
    Load(offsetof(seccomp_data, nr)),
    Unless(BPF_JGE, kFirstNewCall, 1),
    Return(SECCOMP_RET_ERRNO | ENOSYS),
    Unless(BPF_JEQ, SYS_waitid, 4),
    Load(kLowArgument),
    Unless(BPF_JEQ, kByPidfd, 1),
    Return(SECCOMP_RET_ERRNO | EINVAL),
    Return(SECCOMP_RET_ALLOW),
    Unless(BPF_JEQ, SYS_clone, 3),
    Load(kLowArgument),
    Unless(BPF_JSET, CLONE_PIDFD, 1),
    Return(SECCOMP_RET_KILL_PROCESS),
    Return(SECCOMP_RET_ALLOW),
};

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) {
    std::fprintf(stderr, "old_kernel: no program is named\n");
    return 2;
  }
  const sock_fprog program = {static_cast<unsigned short>(std::size(filter)), filter};
  if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 || ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0) {
    std::perror("old_kernel: seccomp");
    return 3;
  }
  ::execvp(argv[1], argv + 1);
  std::perror("old_kernel");
  return 127;
}
