// Waits for children and returns their exit statuses, through pidfds or pids.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include <sys/types.h>

namespace muster {

struct EndedProcess {
  bool signalled = false;
  int code = 0;  // exit code, or signal number if `signalled`
  bool core_dumped = false;
  std::uint64_t user_us = 0;
  std::uint64_t system_us = 0;
  std::uint64_t max_rss_kib = 0;

  bool operator==(const EndedProcess&) const = default;
};

// A child of this process that has not been waited for. Without a pidfd (-1) its pid identifies it, which is not reused
// until the child has been reaped. No other code of the process may wait for it then.
struct ChildRef {
  pid_t pid = -1;
  int pidfd = -1;
};

// Whether the child has exited, without reaping it. True also if it has been reaped
// elsewhere.
bool HasEnded(ChildRef child);
inline bool HasEnded(int pidfd) { return HasEnded(ChildRef{-1, pidfd}); }

// Reaps the child if it has exited; nothing if it is running. The status of a child that was reaped elsewhere is lost:
// it counts as exit code -1, never as success.
std::optional<EndedProcess> Reap(ChildRef child);
inline std::optional<EndedProcess> Reap(int pidfd) { return Reap(ChildRef{-1, pidfd}); }

// The same, but waits for the exit without a limit.
EndedProcess ReapAtEnd(ChildRef child);

// Waits for the exit of the child until the deadline (monotonic clock); false if it is still running then. Does not
// reap.
bool EndsBy(ChildRef child, std::uint64_t deadline_ns);

// Sends the signal to the child; does nothing if it has ended.
void SignalChild(ChildRef child, int signal);
// The same with SIGKILL.
void KillChild(ChildRef child);

// "exited with code 3", "ended by signal 9 (SIGKILL)"
std::string EndText(const EndedProcess& ended);

}  // namespace muster
