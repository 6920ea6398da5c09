// A channel that delivers only those messages of an agent that match the commands sent through it.
//
// It applies the check of transport/validation/agent_message_validator.h: a stray is dropped and reported; too many of
// them, or an invalid answer, close the connection.
#pragma once

#include <cstdint>
#include <memory>

#include "transport/channel.h"
#include "transport/unchecked_channel.h"

namespace muster {

class CheckedChannel final : public Channel {
 public:
  // Number of strays that are tolerated from one agent.
  static constexpr std::uint32_t kMostStrays = 8;

  explicit CheckedChannel(std::unique_ptr<UncheckedChannel> below);
  ~CheckedChannel() override;

  void Send(const AgentCommand& command) override;
  void SetReceiver(Receiver receiver) override;
  void ExpectAnswer(bool at_once) override;

 private:
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace muster
