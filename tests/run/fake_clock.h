// A clock that the test advances. Only the test triggers its alarm.
#pragma once

#include <functional>
#include <utility>

#include "run/session/run_clock.h"

namespace muster {

class FakeClock final : public RunClock {
 public:
  MonotonicNs Monotonic() const override { return now; }
  std::uint64_t Wall() const override { return 1'795'176'376'000'000'000 + now; }
  void SetAlarm(MonotonicNs deadline, std::function<void()> fire) override {
    deadline_ = deadline;
    fire_ = std::move(fire);
  }
  void ClearAlarm() override { fire_ = nullptr; }

  // Advances the time to the alarm and triggers it.
  void PassUntilAlarm() {
    if (!fire_) return;
    now = std::max(now, deadline_);
    std::exchange(fire_, nullptr)();
  }

  MonotonicNs now = 1'000'000'000;

 private:
  MonotonicNs deadline_ = 0;
  std::function<void()> fire_;
};

}  // namespace muster
