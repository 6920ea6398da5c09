// The channels to the agents of a run, one per machine.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "transport/transport.h"

namespace muster {

class Transport;
struct LiveRun;

class AgentLinks {
 public:
  using Receive = std::function<void(std::uint32_t host, ChannelMessage message)>;

  AgentLinks(LiveRun& run, std::uint32_t machines) : run_(run), links_(machines) {}

  // Connects all agents. If a connection cannot even be attempted, it is reported as AgentUnreachable, from the loop.
  void Connect(Transport& transport, const Receive& receive);
  // Sets a function to be called before every command that is not a start.
  void BeforeCommands(std::function<void()> call) { before_commands_ = std::move(call); }

  // Writes the journal first. Does nothing once the link is over.
  void Send(std::uint32_t host, const AgentCommand& command);
  void SendAll(const AgentCommand& command);
  // As Channel::ExpectAnswer.
  void ExpectAnswer(std::uint32_t host, bool at_once);

  // No further commands are sent to the agent, and its messages are ignored.
  void SetOver(std::uint32_t host) { links_[host].over = true; }
  bool over(std::uint32_t host) const { return links_[host].over; }
  // Nothing is left on the host, and the agent and its connection are still ending.
  void SetEnding(std::uint32_t host, bool ending);
  bool AnyEnding() const { return ending_ > 0; }
  // They are not waited for any more.
  void LetEnd();
  // Calls `done` once, from the loop, when none is ending.
  void WhenEnded(std::function<void()> done);
  std::uint32_t size() const { return static_cast<std::uint32_t>(links_.size()); }
  void Disconnect();

 private:
  struct Link {
    std::unique_ptr<Channel> channel;
    bool over = false;
    bool ending = false;
  };

  void NotifyIfEnded();

  LiveRun& run_;
  std::function<void()> before_commands_;
  std::function<void()> when_ended_;
  std::vector<Link> links_;
  std::uint32_t ending_ = 0;  // links
};

}  // namespace muster
