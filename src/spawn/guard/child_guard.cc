#include "spawn/guard/child_guard.h"

#include <algorithm>
#include <csignal>
#include <ctime>
#include <optional>
#include <utility>

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/system/clock.h"

namespace muster {
namespace {

// A deadline that is noticed this late shows that the guard was stopped.
constexpr std::uint64_t kLateNs = 500'000'000;

std::uint64_t After(std::uint64_t ms) { return MonotonicNowNs() + ms * 1'000'000; }

// Returns the signal, or 0 at the deadline.
int NextSignal(const sigset_t& watched, std::optional<std::uint64_t> until) {
  if (!until) return ::sigwaitinfo(&watched, nullptr);
  const std::uint64_t now = MonotonicNowNs();
  const std::uint64_t left = *until - std::min(now, *until);
  const timespec time = {static_cast<time_t>(left / 1'000'000'000), static_cast<long>(left % 1'000'000'000)};
  const int signal = ::sigtimedwait(&watched, nullptr, &time);
  return signal < 0 && MonotonicNowNs() >= *until ? 0 : signal;
}

}  // namespace

EndedProcess GuardChild(pid_t child, const std::function<std::uint64_t()>& most_stopped_ms, std::uint64_t patience_ms,
                        const std::function<bool()>& goes_on) {
  sigset_t watched;
  sigemptyset(&watched);
  sigaddset(&watched, SIGCHLD);
  sigaddset(&watched, SIGTERM);
  // Sent at the end of the parent (kGuardDeathSignal), and by any process that continues this one.
  const pid_t parent = ::getppid();
  sigset_t continued;
  sigemptyset(&continued);
  sigaddset(&continued, kGuardDeathSignal);
  ::sigprocmask(SIG_BLOCK, &continued, nullptr);
  sigaddset(&watched, kGuardDeathSignal);
  bool forwarded = false;  // SIGTERM was forwarded
  std::optional<std::uint64_t> kill_at;
  std::uint64_t allowed_ms = 0;  // from which kill_at follows
  for (;;) {
    if (const auto ended = Reap(ChildRef{child, -1})) return *ended;
    siginfo_t change = {};
    while (::waitid(P_PID, static_cast<id_t>(child), &change, WSTOPPED | WCONTINUED | WNOHANG) == 0 &&
           change.si_pid != 0) {
      const std::uint64_t most_ms = change.si_code == CLD_STOPPED ? most_stopped_ms() : 0;
      if (!forwarded) kill_at = most_ms > 0 ? std::optional(After(most_ms)) : std::nullopt;
      if (!forwarded) allowed_ms = most_ms;
      change = {};
    }
    const int signal = NextSignal(watched, kill_at);
    if (signal == SIGTERM || (signal == kGuardDeathSignal && ::getppid() != parent)) {
      ::kill(child, SIGTERM);
      if (!std::exchange(forwarded, true)) {
        kill_at = std::min(kill_at.value_or(UINT64_MAX), After(patience_ms));
        allowed_ms = patience_ms;
      }
    } else if (signal == 0 && MonotonicNowNs() > *kill_at + kLateNs) {
      kill_at = After(allowed_ms);  // both were stopped
    } else if (signal == 0 && forwarded && goes_on && goes_on()) {
      forwarded = false;
      kill_at.reset();
    } else if (signal == 0) {
      ::kill(child, SIGKILL);
      kill_at.reset();
    }
  }
}

void EndAs(const EndedProcess& ended) {
  if (!ended.signalled) ::_exit(ended.code);
  const rlimit none = {0, 0};
  ::setrlimit(RLIMIT_CORE, &none);
  std::signal(ended.code, SIG_DFL);
  sigset_t all;
  sigfillset(&all);
  ::sigprocmask(SIG_UNBLOCK, &all, nullptr);
  ::raise(ended.code);
  ::_exit(128 + ended.code);
}

void WriteKilledCount(int pipe, std::uint32_t killed) {
  // Errors are ignored: if the head is gone, the number is not needed.
  static_cast<void>(!::write(pipe, &killed, sizeof killed));
}

std::uint32_t ReadKilledCount(int pipe) {
  std::uint32_t killed = 0;
  ::fcntl(pipe, F_SETFL, O_NONBLOCK);
  return ::read(pipe, &killed, sizeof killed) == static_cast<ssize_t>(sizeof killed) ? killed : 0;
}

}  // namespace muster
