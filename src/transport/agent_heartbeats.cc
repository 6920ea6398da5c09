#include "transport/agent_heartbeats.h"

#include <algorithm>

#include "base/system/clock.h"
#include "wire/lease/lease.h"

namespace muster {
namespace {

constexpr std::uint64_t kAwakeNs = 100'000'000;      // a loop that runs is never later than this
constexpr std::uint64_t kClockPauseNs = 50'000'000;  // between two reported comparisons

}  // namespace

AgentHeartbeats::AgentHeartbeats(std::uint64_t lease_ms) : lease_ms_(lease_ms), lease_(lease_ms, MonotonicNowNs()) {
  Look(MonotonicNowNs());
}

void AgentHeartbeats::Look(std::uint64_t now) {
  look_at_ = std::max(now, std::min(lease_.LostAt(), now + HeartbeatMs(lease_ms_) * 1'000'000));
}

void AgentHeartbeats::Resumed() {
  const std::uint64_t now = MonotonicNowNs();
  lease_.Resumed(now);
  Look(now);
}

std::optional<ClockEstimate> AgentHeartbeats::Heard(const AgentHeartbeat& heartbeat) {
  const std::uint64_t now = MonotonicNowNs();
  lease_.Heard(now);
  std::optional<ClockEstimate> better;
  if (heartbeat.answered != 0 && heartbeat.answered == answered_.number) {
    clock_.Add(answered_.at, answered_at_, heartbeat.answered_at);
    // Limits how often clock estimates are reported.
    if (now - clock_reported_at_ >= kClockPauseNs && clock_.Better()) {
      clock_reported_at_ = now;
      better = clock_.best();
    }
  }
  answered_ = heartbeat;
  answered_at_ = now;
  return better;
}

bool AgentHeartbeats::Expired() {
  const std::uint64_t now = MonotonicNowNs();
  const std::uint64_t late = now - std::min(now, look_at_);
  if (late >= PauseNs(lease_ms_)) {
    lease_.Resumed(now);
  } else if (now >= LostAt()) {
    // A timer that is late shows that this process did not run. Heartbeats that arrived meanwhile are read first.
    if (late < kAwakeNs) return true;
    lease_.Slept(now - LostAt());
  }
  Look(now);
  return false;
}

}  // namespace muster
