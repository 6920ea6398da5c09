// Learning how a child ended, and letting it go. Knows pidfds and wait statuses; decides nothing.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

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

// Whether the child behind the pidfd has ended, without reaping it: its pid stays its own until then. True
// also if it is no longer there to be waited for.
bool HasEnded(int pidfd);

// Reaps the child if it has ended; nothing if it runs. The status of a child
// that somebody else reaped is lost: it counts as exit code -1, never as success.
std::optional<EndedProcess> Reap(int pidfd);

// SIGKILL to the process behind the pidfd, whatever has become of its pid; nothing if it has ended.
void KillThroughPidfd(int pidfd);

// "exited with code 3", "ended by signal 9 (SIGKILL)"
std::string EndText(const EndedProcess& ended);

}  // namespace muster
