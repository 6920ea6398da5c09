// A channel through which only comes what belongs to what was asked through it.
//
// Knows the judgement (given_to_agent.h) and what follows from it: a stray is dropped and told of, too many of them, or
// an answer that cannot be used, break the connection off.
#pragma once

#include <cstdint>
#include <memory>

#include "transport/channel.h"
#include "transport/unchecked_channel.h"

namespace muster {

class CheckedChannel final : public Channel {
 public:
  // So many strays of one agent are put up with.
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
