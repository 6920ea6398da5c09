#include "transport/agent_heartbeats.h"

#include <algorithm>
#include <cstdlib>

#include "base/system/clock.h"

namespace muster {

void ClockOffset::Add(std::uint64_t sent, std::uint64_t answered, std::uint64_t back) {
  if (back < sent) return;
  const std::uint64_t error = (back - sent) / 2;
  latest_.push_back({static_cast<std::int64_t>(answered - (sent + error)), error});
  if (latest_.size() > kLatest) latest_.pop_front();
}

std::optional<ClockEstimate> ClockOffset::best() const {
  const auto least =
      std::min_element(latest_.begin(), latest_.end(),
                       [](const ClockEstimate& a, const ClockEstimate& b) { return a.error_ns < b.error_ns; });
  return least == latest_.end() ? std::nullopt : std::optional(*least);
}

bool ClockOffset::Better() {
  const std::optional<ClockEstimate> now = best();
  if (!now) return false;
  if (reported_) {
    const auto apart = static_cast<std::uint64_t>(std::abs(now->offset_ns - reported_->offset_ns));
    if (now->error_ns > reported_->error_ns / 2 && apart <= now->error_ns + reported_->error_ns) return false;
  }
  reported_ = now;
  return true;
}

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

namespace {

constexpr std::chrono::seconds kAtOnce{1};
// A timer that fires this late shows that this process did not run (it may have been stopped itself), so answers may be
// waiting to be read.
constexpr std::chrono::milliseconds kLate{500};

}  // namespace

void AnswerTimeout::Expect(bool at_once) {
  if (state_ == State::kIdle) {
    state_ = State::kAsking;
    due_ = Clock::now() + lease_;
    if (!at_once) return Await(Clock::now() + pause_);
  }
  if (!at_once) return;
  if (state_ == State::kAsking) Ask();
  if (state_ != State::kAsked) return;
  due_ = std::min(due_, std::max(asked_at_ + kAtOnce, Clock::now()));
  Await(due_);
}

void AnswerTimeout::Ask() {
  state_ = State::kAsked;
  asked_at_ = Clock::now();
  Await(due_);
  ends_.ask(++number_);
}

void AnswerTimeout::Answered(std::uint32_t number) {
  if (state_ != State::kAsked || number != number_) return;
  state_ = State::kIdle;
  timer_.cancel();
}

void AnswerTimeout::Stop() {
  state_ = State::kOver;
  timer_.cancel();
}

void AnswerTimeout::Await(Clock::time_point time) {
  timer_.expires_at(time);
  timer_.async_wait([weak = weak_from_this()](const boost::system::error_code& error) {
    if (const auto self = weak.lock(); self && !error) self->OnTime();
  });
}

void AnswerTimeout::OnTime() {
  if (state_ == State::kAsking) return Ask();
  const auto now = Clock::now();
  if (state_ != State::kAsked || now < due_) return;  // a timer of an earlier heartbeat
  if (now > due_ + kLate) return Await(due_ = now + kAtOnce);
  Stop();
  const auto time = std::chrono::round<std::chrono::seconds>(now - asked_at_);
  ends_.unanswered("it did not answer for " + std::to_string(time.count()) + " s");
}

}  // namespace muster
