// Detects processes that have written nothing for too long, from log sizes that are checked periodically. Silence is
// measured by the monotonic clock between two checks, never by file times, so clock jumps do not matter. It is detected
// at most a quarter of its limit late, because that is the interval of the checks.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "muster/event.h"
#include "muster/plan.h"

namespace muster {

// A set of processes that counts as silent if all of them are: a role, or the whole job.
struct SilenceScope {
  std::optional<std::uint32_t> role;  // empty: the whole job
  std::uint64_t limit_ms = 0;
};

class SilenceWatch {
 public:
  explicit SilenceWatch(const Plan& plan);

  bool empty() const { return scopes_.empty(); }
  // Interval of the checks.
  std::uint64_t PeriodMs() const { return period_ms_; }

  // A process started and has written nothing yet.
  void Started(ProcessId process, MonotonicNs now);
  // The size of its log when it was checked.
  void Saw(ProcessId process, std::uint64_t bytes, MonotonicNs now);
  void Ended(ProcessId process, MonotonicNs now);
  // Silence during the last `length` does not count.
  void Paused(MonotonicNs length, MonotonicNs now);

  struct Silent {
    SilenceScope scope;
    ProcessId process = 0;  // the process that fell silent first; of several, the one with the lowest number
  };
  // The first scope in which every running process has been silent for its limit. A scope without running processes, or
  // in which a process started or ended within the limit, is not silent.
  std::optional<Silent> Find(MonotonicNs now) const;

 private:
  struct Log {
    bool running = false;
    std::uint64_t bytes = 0;
    MonotonicNs heard = 0;
  };

  std::vector<std::uint32_t> role_of_;
  std::vector<SilenceScope> scopes_;
  std::uint64_t period_ms_ = 0;
  std::vector<Log> logs_;
  std::vector<MonotonicNs> last_end_;  // by role
};

}  // namespace muster
