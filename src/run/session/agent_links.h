// The channels to the agents of a run, one per machine.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "transport/channel.h"

namespace muster {

class Transport;
struct LiveRun;

class AgentLinks {
 public:
  using Receive = std::function<void(std::uint32_t host, ChannelMessage message)>;

  AgentLinks(LiveRun& run, std::uint32_t machines) : run_(run), links_(machines) {}

  // Connects all. A connection that cannot even be tried is reported as AgentUnreachable, from the loop.
  void Connect(Transport& transport, const Receive& receive);
  // Called before every command that is not a start.
  void BeforeCommands(std::function<void()> call) { before_commands_ = std::move(call); }

  // After the journal was written. Does nothing once the link is over.
  void Send(std::uint32_t host, const AgentCommand& command);
  void SendAll(const AgentCommand& command);
  // As Channel::ExpectAnswer.
  void ExpectAnswer(std::uint32_t host, bool at_once);

  // Nothing is sent to it or heard from it any more.
  void SetOver(std::uint32_t host) { links_[host].over = true; }
  bool over(std::uint32_t host) const { return links_[host].over; }
  std::uint32_t size() const { return static_cast<std::uint32_t>(links_.size()); }
  void Disconnect();

 private:
  struct Link {
    std::unique_ptr<Channel> channel;
    bool over = false;
  };

  LiveRun& run_;
  std::function<void()> before_commands_;
  std::vector<Link> links_;
};

}  // namespace muster
