// The head's end of a connection to a local agent, and the watch over that agent's life.
//
// Knows the wire and the pidfd of the agent, or of its guard. Says AgentEmpty only once the agent has been reaped, and
// AgentLost only once nothing is left of what the agent had started.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <boost/asio/basic_waitable_timer.hpp>
#include <boost/asio/io_context.hpp>

#include "spawn/leftovers/descendants.h"
#include "spawn/start/boost_launcher.h"
#include "transport/channel.h"
#include "transport/unchecked_channel.h"
#include "wire/connection/wire.h"

namespace muster {

// What was started for an agent.
struct LocalAgent {
  LaunchedProcess process;  // the agent's guard, which ends as the agent did, or the agent itself if it has none
  UniqueFd account;         // the pipe to which the guard tells what it killed, or none
};

class LocalChannel final : public UncheckedChannel {
 public:
  // An agent that does not end this long after its connection did is killed.
  static constexpr std::chrono::seconds kAgentPatience{10};

  // `spared`: see LocalTransport. The agent's process must be in it.
  LocalChannel(boost::asio::io_context& io, std::uint32_t host, LocalAgent agent, std::shared_ptr<Wire> wire,
               std::shared_ptr<std::vector<ProcessIdentity>> spared, std::uint64_t lease_ms);

  // If the agent still lives, closes the connection, waits until the agent has ended everything and itself, unless an
  // answer of it is overdue, and ends what it may have left.
  ~LocalChannel() override;

  void Send(const AgentCommand& command) override;
  void SetReceiver(Receiver receiver) override;
  void BreakOff(const std::string& why) override;
  void ExpectAnswer(bool at_once) override;

 private:
  struct Connection;
  std::shared_ptr<Connection> connection_;
};

}  // namespace muster
