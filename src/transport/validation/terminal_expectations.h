// What an agent may send for the terminals of processes, and how many bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>

#include "transport/validation/message_verdict.h"
#include "wire/protocol/protocol.h"

namespace muster {

class TerminalExpectations {
 public:
  void Note(const StartProcess& command);
  void Note(const PtyBytes& command);
  void Note(const PtyTaken& command);

  MessageVerdict On(const PtyOpened& message);
  MessageVerdict On(const PtyClosed& message);
  MessageVerdict On(const PtyBytes& message);
  MessageVerdict On(const PtyTaken& message);

 private:
  struct Terminal {
    std::uint32_t attempt = 0;
    std::uint32_t opens = 1;   // PtyOpened and …
    std::uint32_t closes = 1;  // … PtyClosed messages that are still allowed
    std::size_t written = 0;   // bytes of output that are still allowed
    std::size_t typed = 0;     // typed bytes that the agent has not acknowledged
  };

  // Null if the latest attempt of the process is another one or has no terminal.
  template <class Message>
  Terminal* Of(const Message& message);

  std::map<ProcessId, Terminal> terminals_;
};

}  // namespace muster
