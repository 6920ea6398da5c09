#include "transport/remote_agent.h"

#include <variant>

#include <boost/asio/post.hpp>

#include "base/system/clock.h"
#include "base/system/fault.h"
#include "base/values/overloaded.h"

namespace muster {
namespace {

constexpr std::uint64_t kAwakeNs = 100'000'000;      // a loop that runs is never later than this
constexpr std::uint64_t kClockPauseNs = 50'000'000;  // between two reported comparisons

std::string Seconds(std::uint64_t ms) {
  std::string text = std::to_string(ms / 1000);
  if (ms % 1000 != 0) text += "." + std::to_string(ms % 1000 / 100);
  return text + " s";
}

}  // namespace

RemoteAgent::RemoteAgent(boost::asio::io_context& io, std::uint32_t host, std::uint64_t lease_ms)
    : io_(io), host_(host), lease_ms_(lease_ms), lease_end_(io.get_executor()) {}

void RemoteAgent::Use(std::shared_ptr<Wire> wire) {
  state_ = State::kConnecting;
  why_.clear();
  wire_ended_ = false;
  wire_ = std::move(wire);
  wire_->Start(Later(*this, [](RemoteAgent& self, const std::string& payload) { self.OnFrame(payload); }),
               Later(*this, [](RemoteAgent& self, const std::string& reason) { self.EndWire(reason); }),
               IsAgentHeartbeat);
  wire_->Send(early_);
}

// --- incoming --------------------------------------------------------------------------------------

void RemoteAgent::OnFrame(const std::string& payload) {
  auto message = DecodeMessage(payload);
  if (!message || FailsHere(Fault::kHeadMessage)) return BreakOff("it sent a message that cannot be read");
  if (state_ == State::kConnecting) Open();
  if (const auto* beat = std::get_if<AgentHeartbeat>(&*message)) return OnHeartbeat(*beat);
  if (auto* last = std::get_if<AgentEmpty>(&*message)) {
    empty_ = std::move(*last);
    return OnEmpty();
  }
  if (const auto* end = std::get_if<AgentExited>(&*message); end && end->number == 0 && TakeOwnEnd(*end)) return;
  if (const auto* failed = std::get_if<AgentFailed>(&*message)) why_ = failed->why;
  std::visit(Overloaded{[](AgentHeartbeat&) {}, [this](auto& held) { Tell(std::move(held)); }}, *message);
}

void RemoteAgent::Open() {
  state_ = State::kOpen;
  early_.clear();
  OnOpen();
  lease_.emplace(lease_ms_, MonotonicNowNs());
  AwaitLeaseEnd();
}

void RemoteAgent::OnHeartbeat(const AgentHeartbeat& beat) {
  const std::uint64_t now = MonotonicNowNs();
  wire_->SendUrgent(EncodeFrame(AgentCommand(HeadHeartbeat{beat.number})));
  lease_->Heard(now);
  if (beat.answered != 0 && beat.answered == answered_.number) {
    clock_.Add(answered_.at, answered_at_, beat.answered_at);
    // Limits how often clock estimates are reported.
    if (now - clock_told_at_ >= kClockPauseNs && clock_.Better()) {
      clock_told_at_ = now;
      Tell(ClockCompared{host_, clock_.best()->offset_ns, clock_.best()->error_ns});
    }
  }
  answered_ = beat;
  answered_at_ = now;
}

void RemoteAgent::AwaitLeaseEnd() {
  lease_end_.expires_at(std::chrono::steady_clock::time_point(std::chrono::nanoseconds(lease_->LostAt())));
  lease_end_.async_wait(Later(*this, [](RemoteAgent& self, const boost::system::error_code& error) {
    if (error) return;
    const std::uint64_t now = MonotonicNowNs();
    if (now < self.lease_->LostAt()) return self.AwaitLeaseEnd();
    // A timer that is late shows that this process did not run. Heartbeats that arrived meanwhile are read first.
    const std::uint64_t late = now - self.lease_->LostAt();
    if (late < kAwakeNs) return self.OnLeaseEnd();
    self.lease_->Slept(late);
    self.AwaitLeaseEnd();
  }));
}

void RemoteAgent::OnLeaseEnd() {
  CutAndAwait();
  if (why_.empty()) why_ = "no heartbeat";
  Lost(why_ + " for " + Seconds(lease_ms_));
}

// --- outgoing --------------------------------------------------------------------------------------

void RemoteAgent::Send(const AgentCommand& command) {
  if (state_ == State::kOver) return;
  if (state_ == State::kOpen) return wire_->Send(EncodeFrame(command));
  if (std::holds_alternative<Finish>(command)) return GiveUp();
  std::string frame;
  if (const auto* hello = std::get_if<Hello>(&command)) {
    Hello with_lease = *hello;
    with_lease.lease_ms = lease_ms_;
    frame = EncodeFrame(AgentCommand(with_lease));
  } else {
    frame = EncodeFrame(command);
  }
  early_ += frame;  // for this attempt and later ones
  if (state_ == State::kConnecting) wire_->Send(frame);
}

void RemoteAgent::GiveUp() {
  CutAndAwait();
  Stop();
  boost::asio::post(io_, [self = shared_from_this()] {
    self->Tell(AgentUnreachable{"the connection attempt was abandoned", {}});
  });
}

// --- ends ------------------------------------------------------------------------------------------

void RemoteAgent::BreakOff(const std::string& why) {
  if (wire_ended_ || state_ == State::kOver) return;
  broken_off_ = true;
  Cut();
  EndWire(why);
}

void RemoteAgent::EndWire(const std::string& reason) {
  if (wire_ended_ || state_ == State::kOver) return;
  wire_ended_ = true;
  if (wire_) wire_->Close();
  if (why_.empty()) why_ = reason;
  OnWireEnd(reason);
}

void RemoteAgent::Unreachable(std::string phrase, std::string hint) {
  Last(AgentUnreachable{std::move(phrase), std::move(hint)});
}

void RemoteAgent::Lost(std::string text, std::uint32_t killed) {
  AgentLost lost;
  lost.host = host_;
  lost.why = std::move(text);
  lost.killed = killed;
  Last(std::move(lost));
}

void RemoteAgent::Empty() { Last(std::move(*empty_)); }

void RemoteAgent::Last(ChannelMessage message) {
  Stop();
  Tell(std::move(message));
}

void RemoteAgent::Tell(ChannelMessage message) {
  const Channel::Receiver to = receiver_;  // it may destroy the channel
  if (to) to(std::move(message));
}

void RemoteAgent::Stop() {
  state_ = State::kOver;
  lease_end_.cancel();
  if (wire_) wire_->Close();
  OnStop();
}

void RemoteAgent::Close() {
  receiver_ = nullptr;
  if (state_ == State::kOver) return;
  const bool open = state_ == State::kOpen;
  Stop();
  OnClose(open);
}

}  // namespace muster
