// How often processes may be started again, and how long to wait before: the restart intensity of Erlang's
// supervisors (OTP design principles, "Maximum Restart Intensity"), counted per role.
//
// Knows policies and times, no processes.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>

#include "muster/event.h"
#include "muster/plan.h"

namespace muster {

// How a process ended, or why it is to end.
struct HowEnded {
  enum class Kind : std::uint8_t { kExited, kSignalled, kNotStarted, kLimit, kLost };  // kLost: with its host
  Kind kind = Kind::kExited;
  std::int32_t code = 0;  // exit code or signal

  bool Well() const { return kind == Kind::kExited && code == 0; }
};

// Whether the policy wants such an end followed by a restart.
bool Restarts(const RestartPolicy& policy, const HowEnded& end);

class RestartBudget {
 public:
  struct Grant {
    std::uint32_t count = 0;     // restarts of the role within the policy's time, this one included
    std::uint32_t delay_ms = 0;  // to wait before it
  };
  // Nothing if max restarts lie within the last `within_ms` (the end of that span excluded). A grant counts at once.
  std::optional<Grant> Take(const RestartPolicy& policy, MonotonicNs now);

 private:
  std::deque<MonotonicNs> granted_;
};

}  // namespace muster
