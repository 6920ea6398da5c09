// Heartbeats of agents at the head: the lease of an agent on another host, what round trips say about the offset of
// its clock (as in RFC 5905, section 8), and the detection of a local agent that does not answer. Depends on the
// loop's time only; the owners send the heartbeats.
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include <boost/asio/basic_waitable_timer.hpp>
#include <boost/asio/io_context.hpp>

#include "spawn/start/watched_fd.h"
#include "wire/connection/lease.h"
#include "wire/protocol/protocol.h"

namespace muster {

// Estimates the offset between a host's clock and ours from the times of round trips, as in RFC 5905, section 8.
//
// Pure computation. The clocks are monotonic ones, which may be days apart and run at nearly the same rate.

struct ClockEstimate {
  std::int64_t offset_ns = 0;  // our time is the host's plus this, …
  std::uint64_t error_ns = 0;  // … with this uncertainty: half of the round-trip time

  bool operator==(const ClockEstimate&) const = default;
};

class ClockOffset {
 public:
  // Adds a round trip: the host sent a message at `sent`, this process answered it at `answered`, and the answer
  // arrived at the host at `back`; `sent` and `back` by the host's clock. Impossible times are ignored.
  void Add(std::uint64_t sent, std::uint64_t answered, std::uint64_t back);

  // The best of the latest estimates; empty before the first Add().
  std::optional<ClockEstimate> best() const;
  // Whether the estimate should be reported: true for the first one, for one with at most half the error of the last
  // reported one, and for one that contradicts it.
  bool Better();

 private:
  static constexpr std::size_t kLatest = 16;  // older ones may be wrong by the drift of the clocks

  std::deque<ClockEstimate> latest_;
  std::optional<ClockEstimate> reported_;
};

// The heartbeats of one agent at the head: its lease, and what their round trips say about the offset of its clock.
class AgentHeartbeats {
 public:
  // The lease begins.
  explicit AgentHeartbeats(std::uint64_t lease_ms);

  // A heartbeat has arrived and was answered. Returns an estimate of the clock if it should be reported.
  std::optional<ClockEstimate> Heard(const AgentHeartbeat& heartbeat);

  std::uint64_t LostAt() const { return lease_.LostAt(); }
  // When to look next: before LostAt(), so that a pause of this process is noticed.
  std::uint64_t LookAt() const { return look_at_; }
  // Whether the lease has expired. Call it when a timer for LookAt() has fired; then there is a new one.
  bool Expired();
  // The host was paused, and is not any more: the lease begins again.
  void Resumed();

 private:
  void Look(std::uint64_t now);

  const std::uint64_t lease_ms_;
  HostLease lease_;
  std::uint64_t look_at_ = 0;
  ClockOffset clock_;
  AgentHeartbeat answered_;  // the latest
  std::uint64_t answered_at_ = 0;
  std::uint64_t clock_reported_at_ = 0;
};

// Detects a local agent that does not answer: on demand, it sends the agent a heartbeat (HeadHeartbeat), whose answer
// must arrive in time. A local agent sends no heartbeats, because its exit is seen; but it may be stopped (SIGSTOP) or
// hang.
//
// Depends on the loop's time only; the owner sends the heartbeat and handles an agent that does not answer. Nothing is
// sent while a run works, nor when it ends within a second after it was ordered to.
class AnswerTimeout : public std::enable_shared_from_this<AnswerTimeout> {
 public:
  struct Ends {
    std::function<void(std::uint32_t number)> ask;
    std::function<void(const std::string& why)> unanswered;  // called once: "it did not answer for 10 s"
  };
  AnswerTimeout(boost::asio::io_context& io, std::uint64_t lease_ms, Ends ends)
      : ends_(std::move(ends)), lease_(lease_ms), pause_(HeartbeatMs(lease_ms)), timer_(io.get_executor()) {}

  // Expects an answer within the lease. Sends a heartbeat after a second; with `at_once` sends it now, unless one has
  // been sent already, and expects the answer within a second of that.
  void Expect(bool at_once);
  void Answered(std::uint32_t number);
  void Stop();
  // Whether a heartbeat was sent and has not been answered yet.
  bool unanswered() const { return state_ == State::kAsked; }

 private:
  using Clock = std::chrono::steady_clock;
  using Timer = boost::asio::basic_waitable_timer<Clock, boost::asio::wait_traits<Clock>, LoopExecutor>;
  enum class State : std::uint8_t { kIdle, kAsking, kAsked, kOver };

  void Ask();
  void Await(Clock::time_point time);
  void OnTime();

  const Ends ends_;
  const std::chrono::milliseconds lease_;
  const std::chrono::milliseconds pause_;  // before the heartbeat
  Timer timer_;
  State state_ = State::kIdle;
  std::uint32_t number_ = 0;
  Clock::time_point asked_at_;
  Clock::time_point due_;
};

}  // namespace muster
