// Who has written nothing for too long. Fed with the sizes of logs from time to time; measures silence by the
// monotonic clock between two looks, never by file times, so a clock that jumps makes nobody silent. A silence is
// noticed at most a quarter of its limit late, because that is how often is looked.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "muster/event.h"
#include "muster/plan.h"

namespace muster {

// Processes that are silent only if all of them are: a role, or the whole job.
struct SilenceScope {
  std::optional<std::uint32_t> role;  // nothing: the job
  std::uint64_t limit_ms = 0;
};

class SilenceWatch {
 public:
  explicit SilenceWatch(const Plan& plan);

  bool empty() const { return scopes_.empty(); }
  // When to look again.
  std::uint64_t PeriodMs() const { return period_ms_; }

  // A process began to run: nothing was heard of it before.
  void Started(ProcessId process, MonotonicNs now);
  // Its log held so many bytes when it was looked at.
  void Saw(ProcessId process, std::uint64_t bytes, MonotonicNs now);
  void Ended(ProcessId process, MonotonicNs now);
  // For so long until now a silence meant nothing.
  void Paused(MonotonicNs length, MonotonicNs now);

  struct Silent {
    SilenceScope scope;
    ProcessId process = 0;  // who fell silent first; of several the one with the lowest number
  };
  // The first scope of which every running process has been silent for its limit. A scope in which nothing runs, or
  // in which somebody started or ended within the limit, is not silent.
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
  std::vector<MonotonicNs> last_end_;  // of each role
};

}  // namespace muster
