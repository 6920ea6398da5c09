#include "agent/program/heartbeat_sender.h"

#include <boost/asio/post.hpp>
#include <fmt/format.h>

#include "base/system/clock.h"

namespace muster {
namespace {

// The first ones are each sent as soon as the previous one is answered, to compare the clocks before any start.
constexpr std::uint32_t kQuick = 3;

}  // namespace

void HeartbeatSender::Begin(std::uint64_t lease_ms) {
  lease_ms_ = lease_ms;
  lease_.emplace(lease_ms, MonotonicNowNs());
  Send();
  AwaitEnd();
}

void HeartbeatSender::Send() {
  if (!lease_) return;
  latest_.at = MonotonicNowNs();
  latest_.number = lease_->NextNumber(latest_.at);
  ends_.send(latest_);
  next_at_ = latest_.at + HeartbeatMs(lease_ms_) * 1'000'000;
  next_.expires_after(std::chrono::milliseconds(HeartbeatMs(lease_ms_)));
  next_.async_wait([this](const boost::system::error_code& error) {
    if (error) return;
    NoticePause();
    Send();
  });
}

bool HeartbeatSender::NoticePause() {
  const std::uint64_t now = MonotonicNowNs();
  if (!lease_ || now < next_at_ + PauseNs(lease_ms_)) return false;
  next_at_ = now;
  lease_->Resumed(now);
  return true;
}

void HeartbeatSender::Answered(std::uint32_t number) {
  if (!lease_) return;
  lease_->Answered(number);
  latest_.answered = number;
  latest_.answered_at = MonotonicNowNs();
  if (number == latest_.number && number <= kQuick) Send();
}

void HeartbeatSender::AwaitEnd() {
  end_.expires_at(std::chrono::steady_clock::time_point(std::chrono::nanoseconds(lease_->EndsAt())));
  end_.async_wait([this](const boost::system::error_code& error) {
    if (error || !lease_) return;
    if (MonotonicNowNs() < lease_->EndsAt()) return AwaitEnd();
    if (NoticePause()) {
      Send();
      return AwaitEnd();
    }
    // After this process did not run, the answer may already have arrived: first process readable data.
    boost::asio::post(next_.get_executor(), [this] { EndUnlessAnswered(); });
  });
}

void HeartbeatSender::EndUnlessAnswered() {
  if (!lease_) return;
  if (MonotonicNowNs() < lease_->EndsAt()) return AwaitEnd();
  End();
  ends_.unheard(fmt::format("no heartbeat from the head for {} s", static_cast<double>(lease_ms_) * 3 / 4 / 1000));
}

void HeartbeatSender::End() {
  lease_.reset();
  next_.cancel();
  end_.cancel();
}

}  // namespace muster
