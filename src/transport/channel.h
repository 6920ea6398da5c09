// Interfaces: a Channel is a connection to the agent of one host. It carries commands and messages only: policy is in
// the plan, and the supervisor makes the decisions.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include <boost/asio/io_context.hpp>

#include "transport/validation/channel_message.h"

namespace muster {

class Channel {
 public:
  using Receiver = std::function<void(ChannelMessage)>;

  virtual ~Channel() = default;
  // Queues the command; never blocks. Does nothing after the connection has ended.
  virtual void Send(const AgentCommand& command) = 0;
  // Called on the io_context's thread for every message, in order. Set it once, before control returns to the loop.
  virtual void SetReceiver(Receiver receiver) = 0;
  // Requires an answer of the agent within the lease. An agent that does not answer (it may be stopped, or hang) is
  // killed with everything that it started, and AgentLost reports that. With `at_once` it must answer within a second.
  // Does nothing for transports whose agents send heartbeats all the time.
  virtual void ExpectAnswer(bool at_once) { static_cast<void>(at_once); }
};

struct TransportHost {
  std::uint32_t index = 0;  // of the host in Plan::hosts, or among the hosts of a sweep
  std::string name;
};

}  // namespace muster
