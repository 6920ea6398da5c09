// A channel whose messages have not been held against what was asked.
#pragma once

#include <string>

#include <boost/asio/io_context.hpp>

#include "transport/channel.h"

namespace muster {

// A channel as a transport makes it: whatever the agent says comes through.
class UncheckedChannel : public Channel {
 public:
  // Nothing more of the agent is believed. It is ended like one that cannot be understood, and AgentLost, which says
  // why, is the last message. May be called by the receiver; once.
  virtual void BreakOff(const std::string& why) = 0;
};

}  // namespace muster
