// Detects a local agent that does not answer: on demand, it sends the agent a heartbeat (HeadHeartbeat), whose answer
// must arrive in time. A local agent sends no heartbeats, because its exit is seen; but it may be stopped (SIGSTOP) or
// hang.
//
// Depends on the loop's time only; the owner sends the heartbeat and handles an agent that does not answer. Nothing is
// sent while a run works, nor when it ends within a second after it was ordered to.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>

#include <boost/asio/basic_waitable_timer.hpp>
#include <boost/asio/io_context.hpp>

#include "spawn/start/watched_fd.h"
#include "wire/lease/lease.h"

namespace muster {

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
