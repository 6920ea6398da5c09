#include "spawn/start/reap.h"

#include <algorithm>
#include <cerrno>
#include <csignal>

#include <fmt/format.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/system/clock.h"
#include "base/values/abnormal_exit.h"

namespace muster {
namespace {

constexpr int kByPidfd = 3;  // P_PIDFD (Linux 5.4)

// The raw system call, for its fifth argument.
long WaitId(ChildRef child, siginfo_t* info, int options, rusage* usage) {
  const int kind = child.pidfd >= 0 ? kByPidfd : int{P_PID};
  const int id = child.pidfd >= 0 ? child.pidfd : child.pid;
  for (;;) {
    const long result = ::syscall(SYS_waitid, kind, id, info, options, usage);
    if (result == 0) return result;
    // A loop that watches a pidfd has made it non-blocking, which applies to this wait too.
    if (errno == EAGAIN && child.pidfd >= 0) {
      pollfd end = {child.pidfd, POLLIN, 0};
      ::poll(&end, 1, -1);
    } else if (errno != EINTR) {
      return result;
    }
  }
}

std::uint64_t Microseconds(const timeval& time) {
  return static_cast<std::uint64_t>(time.tv_sec) * 1'000'000 + static_cast<std::uint64_t>(time.tv_usec);
}

std::optional<EndedProcess> Waited(ChildRef child, int options) {
  siginfo_t info = {};
  rusage usage = {};
  if (WaitId(child, &info, WEXITED | options, &usage) != 0) {
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

}  // namespace

bool HasEnded(ChildRef child) {
  siginfo_t info = {};
  return WaitId(child, &info, WEXITED | WNOHANG | WNOWAIT, nullptr) != 0 || info.si_pid != 0;
}

std::optional<EndedProcess> Reap(ChildRef child) { return Waited(child, WNOHANG); }

EndedProcess ReapAtEnd(ChildRef child) { return Waited(child, 0).value_or(EndedProcess{}); }

bool EndsBy(ChildRef child, std::uint64_t deadline_ns) {
  constexpr int kGlanceMs = 2;  // poll interval without a pidfd
  for (;;) {
    if (child.pidfd < 0 && HasEnded(child)) return true;
    const std::uint64_t now = MonotonicNowNs();
    if (now >= deadline_ns) return HasEnded(child);
    pollfd end = {child.pidfd, POLLIN, 0};
    const int left = static_cast<int>((deadline_ns - now) / 1'000'000) + 1;
    if (::poll(&end, 1, child.pidfd < 0 ? std::min(left, kGlanceMs) : left) > 0) return true;
  }
}

std::string EndText(const EndedProcess& ended) {
  if (!ended.signalled) return fmt::format("exited with code {}", ended.code);
  return fmt::format("ended by signal {} ({})", ended.code, SignalName(ended.code));
}

void SignalChild(ChildRef child, int signal) {
  if (child.pidfd >= 0) {
    ::syscall(SYS_pidfd_send_signal, child.pidfd, signal, nullptr, 0);
  } else {
    ::kill(child.pid, signal);
  }
}

void KillChild(ChildRef child) { SignalChild(child, SIGKILL); }

}  // namespace muster
