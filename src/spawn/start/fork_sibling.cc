#include "spawn/start/fork_sibling.h"

#include <cerrno>

#include <sched.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

namespace muster {

pid_t ForkSibling(int death_signal, pid_t parent) {
  // With CLONE_PARENT the kernel gives the copy this process's parent and exit signal.
  const long pid = ::syscall(SYS_clone, CLONE_PARENT, nullptr, nullptr, nullptr, 0);
  if (pid < 0) return -errno;
  if (pid > 0) return static_cast<pid_t>(pid);
  if (::prctl(PR_SET_PDEATHSIG, death_signal) != 0 || ::getppid() != parent) ::_exit(1);
  return 0;
}

std::optional<Spawned> AdoptChild(pid_t pid, const Mechanisms& mechanisms) {
  siginfo_t info = {};
  if (pid <= 0 || ::waitid(P_PID, static_cast<id_t>(pid), &info, WEXITED | WNOHANG | WNOWAIT) != 0) return std::nullopt;
  Spawned child{pid, {}};
  // The pid of a child that has not been waited for cannot be reused.
  if (mechanisms.pidfd) child.pidfd.reset(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));
  return child;
}

}  // namespace muster
