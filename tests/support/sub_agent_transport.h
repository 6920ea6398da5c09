// The transports with agents below standing ones, which must satisfy the same requirements. Each channel has
// its own standing agent, which ends before the channel's last message.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <gtest/gtest.h>

#include "support/transports.h"
#include "transport/host_agents.h"

namespace muster::testing {

class SubAgentTransport final : public Transport {
 public:
  explicit SubAgentTransport(std::unique_ptr<Transport> below) : below_(std::move(below)) {}

  std::string_view name() const override { return below_->name(); }
  bool remote() const override { return below_->remote(); }

 private:
  Result<std::unique_ptr<UncheckedChannel>> Open(boost::asio::io_context& io, const TransportHost& host) override {
    auto channel = std::make_unique<StandingChannel>();
    channel->agents = std::make_unique<HostAgents>(io, *below_, std::vector<std::string>{host.name}, "standing",
                                                   HostAgents::Events{});
    channel->agents->ConnectAll();
    auto connected = channel->agents->TransportFor({0})->Connect(io, {0, host.name});
    if (!connected) return Fail(std::move(connected.error()));
    channel->below = std::move(*connected);
    return channel;
  }

  struct StandingChannel final : UncheckedChannel {
    ~StandingChannel() override {
      below.reset();
      agents.reset();
    }
    void Send(const AgentCommand& command) override { below->Send(command); }
    void BreakOff(const std::string& why) override { ADD_FAILURE() << "an honest agent is broken off: " << why; }
    void ExpectAnswer(bool at_once) override { below->ExpectAnswer(at_once); }
    void SetReceiver(Receiver receiver) override {
      below->SetReceiver([this, to = std::move(receiver)](ChannelMessage message) {
        const bool last = std::holds_alternative<AgentEmpty>(message) || std::holds_alternative<AgentLost>(message) ||
                          std::holds_alternative<AgentUnreachable>(message);
        if (!last) return to(std::move(message));
        agents->Finish([to, held = std::make_shared<ChannelMessage>(std::move(message))] { to(std::move(*held)); });
      });
    }

    std::unique_ptr<HostAgents> agents;
    std::unique_ptr<Channel> below;
  };

  std::unique_ptr<Transport> below_;
};

// For a test's parameters: all of support/transports.h, "slurm" (agents that dial back, started by srun), and each with
// sub-agents: "local_below", "ssh_below", "dial_below", "slurm_below".
inline std::vector<TransportEntry> TransportsWithSubAgents() {
  std::vector<TransportEntry> all(Transports().begin(), Transports().end());
  all.push_back({"local_below", "agents below a standing one on this machine", [](const TransportSettings& settings) {
                   return std::unique_ptr<Transport>(new SubAgentTransport(Transports()[0].make(settings)));
                 }});
  all.push_back({"ssh_below", "agents below standing ones on other hosts", [](const TransportSettings& settings) {
                   return std::unique_ptr<Transport>(new SubAgentTransport(Transports()[1].make(settings)));
                 }});
  const auto dial_below = [](const TransportSettings& settings) {
    return std::unique_ptr<Transport>(new SubAgentTransport(Transports()[2].make(settings)));
  };
  all.push_back({"dial_below", "agents below standing ones that dial back", dial_below});
  all.push_back({"slurm", "agents that srun starts", Transports()[2].make});
  all.push_back({"slurm_below", "agents below standing ones that srun starts", dial_below});
  return all;
}

}  // namespace muster::testing
