// The connection to the agent of another host through a command's stdin and stdout, from the first attempt to its end.
//
// What is particular to ssh or kubectl is its CommandCarrier's; what is common to all other hosts is RemoteAgent's.
// Delivers AgentEmpty only once the command has exited, and AgentLost before the lease expires only if the command, or
// its carrier, has reported how the agent ended.
#pragma once

#include <chrono>
#include <memory>

#include <boost/asio/io_context.hpp>

#include "spawn/start/launcher.h"
#include "transport/channel.h"
#include "transport/command_carrier.h"
#include "transport/remote_agent.h"

namespace muster {

class CommandChannel final : public RemoteChannel {
 public:
  // A command that has not exited this long after its connection ended is killed.
  static constexpr std::chrono::seconds kCommandPatience{10};
  // An agent that has not sent its greeting this long after the command began is given up: a login may hang on a dead
  // disk.
  static constexpr std::chrono::seconds kGreetingPatience{30};
  // How long the carrier may take to say more about an end.
  static constexpr std::chrono::seconds kReasonPatience{3};
  // How long a destroyed channel waits for the other side to notice before the command is killed.
  static constexpr std::chrono::seconds kPartingPatience{2};

  // Begins when the carrier says so.
  CommandChannel(boost::asio::io_context& io, std::shared_ptr<Launcher> launcher,
                 std::shared_ptr<CommandCarrier> carrier, const TransportHost& host, std::uint64_t lease_ms);

  void Send(const AgentCommand& command) override;

 private:
  class Connection;
  const std::shared_ptr<CommandCarrier> carrier_;
};

}  // namespace muster
