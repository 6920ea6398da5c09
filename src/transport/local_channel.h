// The head's end of a connection to a local agent, and the supervision of the agent process.
//
// Depends on the wire protocol and the pidfd of the agent, or of its guard. Delivers AgentEmpty only once the agent has
// been reaped, and AgentLost only once no process of the agent is left.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <boost/asio/basic_waitable_timer.hpp>
#include <boost/asio/io_context.hpp>

#include "spawn/leftovers/leftovers.h"
#include "spawn/start/watched_child.h"
#include "transport/channel.h"
#include "transport/unchecked_channel.h"
#include "wire/connection/wire.h"

namespace muster {

// The processes and descriptors of a started agent.
struct LocalAgent {
  LaunchedProcess process;  // the agent's guard, which exits as the agent did, or the agent itself if it has none
  UniqueFd account;         // where the guard writes how many processes it killed; invalid without a guard
};

class LocalChannel final : public UncheckedChannel {
 public:
  // An agent that has not exited this long after its connection ended is killed.
  static constexpr std::chrono::seconds kAgentPatience{10};

  // `spared`: see LocalTransport. The agent's process must be in it.
  LocalChannel(boost::asio::io_context& io, std::uint32_t host, LocalAgent agent, std::shared_ptr<Wire> wire,
               std::shared_ptr<std::vector<ProcessIdentity>> spared, std::uint64_t lease_ms);

  // If the agent is still running, closes the connection, waits until the agent has killed its processes and exited
  // (not if its answer is overdue), and kills the processes that it left.
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
