#include "transport/remote_agent.h"

#include <utility>
#include <variant>

#include <boost/asio/post.hpp>

#include "base/system/clock.h"
#include "base/system/fault.h"
#include "base/values/overloaded.h"

namespace muster {
namespace {

std::string Seconds(std::uint64_t ms) {
  std::string text = std::to_string(ms / 1000);
  if (ms % 1000 != 0) text += "." + std::to_string(ms % 1000 / 100);
  return text + " s";
}

}  // namespace

RemoteAgent::RemoteAgent(boost::asio::io_context& io, std::uint32_t host, std::uint64_t lease_ms)
    : io_(io), host_(host), lease_ms_(lease_ms), lease_end_(io.get_executor()) {}

void RemoteAgent::Begin(std::unique_ptr<AgentCarrier> carrier) {
  carrier_ = std::move(carrier);
  carrier_->Begin();
}

void RemoteAgent::Use(std::shared_ptr<Wire> wire) {
  link_.state = State::kConnecting;
  link_.why.clear();
  link_.failure.clear();
  link_.wire_ended = false;
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
  if (link_.state == State::kConnecting) Open();
  if (const auto* end = std::get_if<AgentExited>(&*message); end && end->number == 0 && carrier_->TakeOwnEnd(*end)) {
    return;
  }
  if (link_.empty) return;  // nothing else may follow
  if (const auto* heartbeat = std::get_if<AgentHeartbeat>(&*message)) {
    const auto clock = heartbeats_->Heard(*heartbeat);
    if (std::exchange(paused_, false)) {
      Deliver(HostPaused{});
      if (link_.state == State::kOver) return;
    }
    wire_->SendUrgent(EncodeFrame(AgentCommand(HeadHeartbeat{heartbeat->number})));
    if (clock) Deliver(ClockCompared{host_, clock->offset_ns, clock->error_ns});
    return;
  }
  if (auto* last = std::get_if<AgentEmpty>(&*message)) {
    link_.empty = *last;
    if (carrier_->OnEmpty()) Deliver(HostCleared{std::move(*last)});
    return;
  }
  if (const auto* failed = std::get_if<AgentFailed>(&*message)) link_.why = link_.failure = failed->why;
  std::visit(Overloaded{[](AgentHeartbeat&) {}, [this](auto& held) { Deliver(std::move(held)); }}, *message);
}

void RemoteAgent::Open() {
  link_.state = State::kOpen;
  early_.clear();
  carrier_->OnOpen();
  heartbeats_.emplace(lease_ms_);
  AwaitLeaseEnd();
}

void RemoteAgent::AwaitLeaseEnd() {
  lease_end_.expires_at(std::chrono::steady_clock::time_point(std::chrono::nanoseconds(heartbeats_->LookAt())));
  lease_end_.async_wait(Later(*this, [](RemoteAgent& self, const boost::system::error_code& error) {
    if (error) return;
    if (!self.heartbeats_->Expired()) return self.AwaitLeaseEnd();
    if (self.link_.wire_ended) return self.Unheard();  // a host that is paused keeps its connection
    self.carrier_->AskWhetherPaused([weak = self.weak_from_this()](const std::string& phrase) {
      const auto agent = weak.lock();
      if (agent && agent->link_.state != State::kOver) agent->OnPauseAnswer(phrase);
    });
  }));
}

void RemoteAgent::OnPauseAnswer(const std::string& phrase) {
  if (!phrase.empty()) {
    paused_ = true;
    Deliver(HostPaused{phrase});
    if (link_.state == State::kOver) return;
  } else if (!std::exchange(paused_, false)) {
    // A heartbeat may have come while the engine was asked.
    if (MonotonicNowNs() >= heartbeats_->LostAt()) return Unheard();
    return AwaitLeaseEnd();
  }
  heartbeats_->Resumed();
  AwaitLeaseEnd();
}

void RemoteAgent::Unheard() {
  Deliver(HostUnheard{});
  if (link_.state == State::kOver) return;
  carrier_->Cut(true);
  if (why().empty()) why() = "no heartbeat";
  Lost(why() + " for " + Seconds(lease_ms_));
}

// --- outgoing --------------------------------------------------------------------------------------

void RemoteAgent::Send(const AgentCommand& command) {
  if (link_.state == State::kOver) return;
  if (link_.state == State::kOpen) return wire_->Send(EncodeFrame(command));
  if (std::holds_alternative<Finish>(command)) return GiveUp();
  std::string frame;
  if (const auto* hello = std::get_if<Hello>(&command)) {
    carrier_->KnowRun(hello->run_id);
    Hello with_lease = *hello;
    with_lease.lease_ms = lease_ms_;
    frame = EncodeFrame(AgentCommand(with_lease));
  } else {
    frame = EncodeFrame(command);
  }
  early_ += frame;  // for this attempt and later ones
  if (link_.state == State::kConnecting) wire_->Send(frame);
}

void RemoteAgent::GiveUp() {
  carrier_->Cut(true);
  Stop();
  boost::asio::post(io_, [self = shared_from_this()] {
    self->Deliver(AgentUnreachable{"the connection attempt was abandoned", {}, true});
  });
}

// --- ends ------------------------------------------------------------------------------------------

void RemoteAgent::BreakOff(const std::string& why) {
  if (link_.wire_ended || link_.state == State::kOver) return;
  link_.broken_off = true;
  carrier_->Cut(false);
  EndWire(why);
}

void RemoteAgent::EndWire(const std::string& reason) {
  if (link_.wire_ended || link_.state == State::kOver) return;
  link_.wire_ended = true;
  if (wire_) wire_->Close();
  if (link_.why.empty()) link_.why = reason;
  carrier_->OnWireEnd(reason);
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

void RemoteAgent::Empty() { Last(std::move(*link_.empty)); }

void RemoteAgent::Last(ChannelMessage message) {
  Stop();
  Deliver(std::move(message));
}

void RemoteAgent::Deliver(ChannelMessage message) {
  const Channel::Receiver to = receiver_;  // it may destroy the channel
  if (to) to(std::move(message));
}

void RemoteAgent::Stop() {
  link_.state = State::kOver;
  lease_end_.cancel();
  if (wire_) wire_->Close();
  carrier_->OnStop();
}

void RemoteAgent::Close() {
  receiver_ = nullptr;
  if (link_.state == State::kOver) return;
  const bool open = link_.state == State::kOpen;
  Stop();
  carrier_->OnClose(open);
}

}  // namespace muster
