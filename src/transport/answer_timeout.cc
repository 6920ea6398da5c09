#include "transport/answer_timeout.h"

#include <algorithm>

namespace muster {
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
