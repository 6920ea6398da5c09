// Limits how often processes may be restarted, and computes the delay before each restart: the restart intensity of
// Erlang's supervisors (OTP design principles, "Maximum Restart Intensity"), counted per role.
//
// Depends on policies and times, not on processes.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>

#include "muster/event.h"
#include "muster/plan.h"

namespace muster {

// How a process ended, or why it must be ended.
struct HowEnded {
  enum class Kind : std::uint8_t { kExited, kSignalled, kNotStarted, kLimit, kLost };  // kLost: its host was lost
  Kind kind = Kind::kExited;
  std::int32_t code = 0;  // exit code or signal

  bool Well() const { return kind == Kind::kExited && code == 0; }
};

// Whether the policy calls for a restart after this end.
bool Restarts(const RestartPolicy& policy, const HowEnded& end);

class RestartBudget {
 public:
  struct Grant {
    std::uint32_t count = 0;     // restarts of the role within the policy's time, this one included
    std::uint32_t delay_ms = 0;  // delay before it
  };
  // Returns nothing if the maximum number of restarts was granted within the last `within_ms` (end of the interval
  // excluded). A grant counts immediately.
  std::optional<Grant> Take(const RestartPolicy& policy, MonotonicNs now);

 private:
  std::deque<MonotonicNs> granted_;
};

}  // namespace muster
