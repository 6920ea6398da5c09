// A channel whose messages have not been checked against its commands.
#pragma once

#include <string>

#include <boost/asio/io_context.hpp>

#include "transport/channel.h"

namespace muster {

// A channel as a transport creates it: delivers every message of the agent.
class UncheckedChannel : public Channel {
 public:
  // Stops trusting the agent, and ends it like one that sends garbage; AgentLost with this reason is the last message.
  // May be called by the receiver; once.
  virtual void BreakOff(const std::string& why) = 0;
};

}  // namespace muster
