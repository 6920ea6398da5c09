// The user's terminal joined to the pseudo-terminal of one process, wherever its agent is: keys and window there,
// what is written here.
//
// Knows the two ends and the windows between them (wire/protocol/protocol.h); not plans. Nothing blocks: keys stay in
// the terminal while the process takes none, and the process waits while the terminal takes nothing. Muster's own words
// are held back while the two are joined (run/console/console.h).
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
    std::function<void()> stop;                     // the user asked for the end of the run, by keys
  };

  // `console` must outlive it.
  TerminalLink(boost::asio::io_context& io, Console& console, UserTerminal terminal, Ends ends);

  PtySize Size() const { return terminal_.Size(); }

  // The attempt has its pseudo-terminal: the two are joined. From here on signals that concern the terminal are caught.
  void Join(const ProcessAttempt& who);
  // They are not any more, if they were: the terminal is given back.
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
  std::size_t granted_ = 0;  // how much may be typed
  std::uint32_t shown_ = 0;  // written here, and not told to be taken
  bool waiting_ = false;     // for keys
  bool waiting_for_signal_ = false;
};

}  // namespace muster
