// Checks the messages of one agent against the commands given to it: the only place where the head decides which
// messages it accepts. An agent is trusted only about itself.
//
// A pure state machine: it is given the commands to the agent and the messages from it, in order. Each part keeps what
// commands of its subject allow.
#pragma once

#include <tuple>

#include "transport/validation/channel_message.h"
#include "transport/validation/code_expectations.h"
#include "transport/validation/dump_expectations.h"
#include "transport/validation/file_expectations.h"
#include "transport/validation/host_expectations.h"
#include "transport/validation/message_verdict.h"
#include "transport/validation/process_expectations.h"
#include "transport/validation/terminal_expectations.h"

namespace muster {

class AgentMessageValidator {
 public:
  void Gave(const AgentCommand& command);
  // Counts the message as received: if only one is expected, the second one is a stray.
  MessageVerdict Judge(const ChannelMessage& message);

 private:
  // In the order in which they judge a message; the first objection counts, and later parts do not see the message.
  std::tuple<HostExpectations, ProcessExpectations, TerminalExpectations, DumpExpectations, FileExpectations,
             CodeExpectations>
      parts_;
};

}  // namespace muster
