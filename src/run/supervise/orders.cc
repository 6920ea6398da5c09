#include "run/supervise/orders.h"

namespace muster {

void Orders::ArmAt(std::uint64_t timer, MonotonicNs deadline) {
  if (timers_.Arm(timer, deadline, now_)) Add(ArmTimer{timer, deadline});
}

void Orders::Disarm(std::uint64_t timer) {
  if (timers_.Disarm(timer)) Add(DisarmTimer{timer});
}

void Orders::DisarmAll() {
  for (const std::uint64_t timer : timers_.DisarmAll()) Add(DisarmTimer{timer});
}

void Orders::PauseTimers() {
  for (const std::uint64_t timer : timers_.Pause(now_)) Add(DisarmTimer{timer});
}

void Orders::ResumeTimers() {
  for (const auto& [timer, deadline] : timers_.Resume(now_)) Add(ArmTimer{timer, deadline});
}

}  // namespace muster
