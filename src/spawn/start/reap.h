// Learning how a child ended, and letting it go. Knows pidfds, pids and wait statuses; decides nothing.
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

// A child of this process that has not been waited for. Where there is no pidfd (-1) its pid does as well: it stays the
// child's own until the child has been reaped. Nobody else in the process may wait for it then.
struct ChildRef {
  pid_t pid = -1;
  int pidfd = -1;
};

// Whether the child has ended, without reaping it: its pid stays its own until then. True also if it is no longer
// there to be waited for.
bool HasEnded(ChildRef child);
inline bool HasEnded(int pidfd) { return HasEnded(ChildRef{-1, pidfd}); }

// Reaps the child if it has ended; nothing if it runs. The status of a child
// that somebody else reaped is lost: it counts as exit code -1, never as success.
std::optional<EndedProcess> Reap(ChildRef child);
inline std::optional<EndedProcess> Reap(int pidfd) { return Reap(ChildRef{-1, pidfd}); }

// The same, waiting for its end as long as it takes.
EndedProcess ReapAtEnd(ChildRef child);

// Waits for the end of the child until the deadline (monotonic clock); false if it still runs then. Does not reap.
bool EndsBy(ChildRef child, std::uint64_t deadline_ns);

// SIGKILL to the child; nothing if it has ended.
void KillChild(ChildRef child);

// "exited with code 3", "ended by signal 9 (SIGKILL)"
std::string EndText(const EndedProcess& ended);

}  // namespace muster
