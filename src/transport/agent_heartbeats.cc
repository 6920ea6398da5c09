#include "transport/agent_heartbeats.h"

#include "base/system/clock.h"

namespace muster {
namespace {

constexpr std::uint64_t kAwakeNs = 100'000'000;      // a loop that runs is never later than this
constexpr std::uint64_t kClockPauseNs = 50'000'000;  // between two reported comparisons

}  // namespace

AgentHeartbeats::AgentHeartbeats(std::uint64_t lease_ms) : lease_(lease_ms, MonotonicNowNs()) {}

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
  if (now < LostAt()) return false;
  // A timer that is late shows that this process did not run. Heartbeats that arrived meanwhile are read first.
  const std::uint64_t late = now - LostAt();
  if (late < kAwakeNs) return true;
  lease_.Slept(late);
  return false;
}

}  // namespace muster
