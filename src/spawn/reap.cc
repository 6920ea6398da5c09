#include "spawn/reap.h"

#include <cerrno>
#include <csignal>

#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/signal_name.h"

namespace muster {
namespace {

constexpr int kByPidfd = 3;  // P_PIDFD (Linux 5.4)

// The system call itself, for its fifth argument.
long WaitId(int pidfd, siginfo_t* info, int options, rusage* usage) {
  for (;;) {
    const long result = ::syscall(SYS_waitid, kByPidfd, pidfd, info, options, usage);
    if (result == 0 || errno != EINTR) return result;
  }
}

std::uint64_t Microseconds(const timeval& time) {
  return static_cast<std::uint64_t>(time.tv_sec) * 1'000'000 + static_cast<std::uint64_t>(time.tv_usec);
}

}  // namespace

bool HasEnded(int pidfd) {
  siginfo_t info = {};
  return WaitId(pidfd, &info, WEXITED | WNOHANG | WNOWAIT, nullptr) != 0 || info.si_pid != 0;
}

std::optional<EndedProcess> Reap(int pidfd) {
  siginfo_t info = {};
  rusage usage = {};
  if (WaitId(pidfd, &info, WEXITED | WNOHANG, &usage) != 0) {
    EndedProcess lost;
    lost.code = -1;
    return lost;
  }
  if (info.si_pid == 0) return std::nullopt;
  EndedProcess ended;
  ended.signalled = info.si_code != CLD_EXITED;
  ended.code = info.si_status;
  ended.core_dumped = info.si_code == CLD_DUMPED;
  ended.user_us = Microseconds(usage.ru_utime);
  ended.system_us = Microseconds(usage.ru_stime);
  ended.max_rss_kib = static_cast<std::uint64_t>(usage.ru_maxrss);
  return ended;
}

std::string EndText(const EndedProcess& ended) {
  if (!ended.signalled) return fmt::format("exited with code {}", ended.code);
  return fmt::format("ended by signal {} ({})", ended.code, SignalName(ended.code));
}

void KillThroughPidfd(int pidfd) { syscall(SYS_pidfd_send_signal, pidfd, SIGKILL, nullptr, 0); }

}  // namespace muster
