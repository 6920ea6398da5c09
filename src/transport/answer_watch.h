// Whether an agent still answers: where something depends on it, it is asked for a sign of life (HeadBeat), which has
// to come in time. For agents that send no beats because their end is seen, but which may be stopped (SIGSTOP) or hang.
//
// Knows the loop's time and numbers; how the question gets to the agent, and what becomes of one that does not answer,
// is told by its owner. A run at work asks nothing, and one that ends within a second of its end's order neither.
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

class AnswerWatch : public std::enable_shared_from_this<AnswerWatch> {
 public:
  struct Ends {
    std::function<void(std::uint32_t number)> ask;
    std::function<void(const std::string& why)> unanswered;  // once: "it did not answer for 10 s"
  };
  AnswerWatch(boost::asio::io_context& io, std::uint64_t lease_ms, Ends ends)
      : ends_(std::move(ends)), lease_(lease_ms), pause_(BeatMs(lease_ms)), timer_(io.get_executor()) {}

  // One answer is to come within the lease. It is asked for after a second; with `at_once` now, if it was not asked for
  // yet, and has to come within a second of that.
  void Expect(bool at_once);
  void Answered(std::uint32_t number);
  void Stop();
  // Whether the agent was asked and has not answered.
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
  const std::chrono::milliseconds pause_;  // before the question
  Timer timer_;
  State state_ = State::kIdle;
  std::uint32_t number_ = 0;
  Clock::time_point asked_at_;
  Clock::time_point due_;
};

}  // namespace muster
