// Connects the user's terminal to the pseudo-terminal of one process, on whatever host: keys and window size go there,
// output comes back.
//
// Depends on the two ends and their flow-control windows (wire/protocol/protocol.h); not on plans. Nothing blocks: keys
// stay in the terminal while the process accepts none, and the process waits while the terminal accepts no output.
// muster's own messages are held back while the two are connected (run/console/console.h).
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/signal_set.hpp>

#include "run/console/console.h"
#include "run/console/stop_keys.h"
#include "run/console/user_terminal.h"
#include "wire/protocol/protocol.h"

namespace muster {

class TerminalLink {
 public:
  struct Ends {
    std::function<void(const AgentCommand&)> send;  // to the agent of the process
    std::function<void()> stop;                     // the user requested the end of the run by keys
  };

  // `console` must outlive it.
  TerminalLink(boost::asio::io_context& io, Console& console, UserTerminal terminal, Ends ends);

  PtySize Size() const { return terminal_.Size(); }

  // Connects the terminal to the attempt's pseudo-terminal. From now on signals that concern the terminal are caught.
  void Join(const ProcessAttempt& who);
  // Disconnects the attempt if it is connected, and restores the terminal.
  void Part(const ProcessAttempt& who);
  void Part();

  void Written(const PtyBytes& written);
  void Taken(const PtyTaken& taken);

 private:
  bool IsJoined(ProcessId process, std::uint32_t attempt) const {
    return joined_ && joined_->process == process && joined_->attempt == attempt;
  }
  void AwaitKeys();
  void PassKeys();
  void AwaitSignal();
  void OnSignal(int signal);
  void SendSize();
  void SendShown();

  Console& console_;
  UserTerminal terminal_;
  Ends ends_;
  boost::asio::posix::stream_descriptor keys_;
  boost::asio::signal_set signals_;
  std::optional<ProcessAttempt> joined_;
  StopKeys stop_keys_;
  std::size_t granted_ = 0;  // how many more bytes may be typed
  std::uint32_t shown_ = 0;  // bytes written here that are not acknowledged yet
  bool waiting_ = false;     // for keys
  bool waiting_for_signal_ = false;
};

}  // namespace muster
