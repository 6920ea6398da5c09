#include "transport/checked_channel.h"

#include <utility>

#include "muster/result.h"
#include "transport/transport.h"
#include "transport/validation/agent_message_validator.h"

namespace muster {

// Outlives the channel while a message is delivered: its receiver may destroy the channel.
struct CheckedChannel::State : std::enable_shared_from_this<State> {
  void Hear(ChannelMessage message) {
    if (!receiver) return;
    const MessageVerdict verdict = given.Judge(message);
    switch (verdict.kind) {
      case MessageVerdict::Kind::kBelongs:
        return Notify(std::move(message));
      case MessageVerdict::Kind::kStray:
        return Stray(verdict.why);
      case MessageVerdict::Kind::kUnfit:
        return Refuse(verdict.why, std::holds_alternative<AgentReady>(message));
    }
  }

  void Stray(const std::string& why) {
    if (broken) return;
    const auto keep = shared_from_this();
    ++strays;
    Notify(StrayMessage{why});
    if (strays > kMostStrays && below && !std::exchange(broken, true)) {
      below->BreakOff("too many unexpected messages, last: " + why);
    }
  }

  void Refuse(const std::string& why, bool greeting) {
    if (!below || std::exchange(broken, true)) return;
    const auto keep = shared_from_this();
    // The agent has started nothing yet, so how its connection ends does not matter.
    const Receiver to = greeting ? std::exchange(receiver, nullptr) : Receiver();
    below->BreakOff(why);
    if (to) to(AgentUnreachable{"its agent: " + why, {}});
  }

  void Notify(ChannelMessage message) {
    const Receiver to = receiver;
    if (to) to(std::move(message));
  }

  std::unique_ptr<UncheckedChannel> below;
  Receiver receiver;
  AgentMessageValidator given;
  std::uint32_t strays = 0;
  bool broken = false;
};

CheckedChannel::CheckedChannel(std::unique_ptr<UncheckedChannel> below) : state_(std::make_shared<State>()) {
  state_->below = std::move(below);
  state_->below->SetReceiver([weak = std::weak_ptr(state_)](ChannelMessage message) {
    if (const auto state = weak.lock()) state->Hear(std::move(message));
  });
}

CheckedChannel::~CheckedChannel() {
  state_->receiver = nullptr;
  const std::unique_ptr<UncheckedChannel> last = std::move(state_->below);
}

void CheckedChannel::Send(const AgentCommand& command) {
  state_->given.Gave(command);
  if (!state_->broken) state_->below->Send(command);
}

void CheckedChannel::ExpectAnswer(bool at_once) {
  if (!state_->broken) state_->below->ExpectAnswer(at_once);
}

void CheckedChannel::SetReceiver(Receiver receiver) { state_->receiver = std::move(receiver); }

Result<std::unique_ptr<Channel>> Transport::Connect(boost::asio::io_context& io, const TransportHost& host) {
  Result<std::unique_ptr<UncheckedChannel>> channel = Open(io, host);
  if (!channel) return Fail(std::move(channel.error()));
  return std::make_unique<CheckedChannel>(std::move(*channel));
}

}  // namespace muster
