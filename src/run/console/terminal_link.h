// Connects the user's terminal, raw meanwhile and restored afterwards, to the pseudo-terminal of one process, on
// whatever host: keys and window size go there, output comes back, and Ctrl-] three times in a row requests the end
// of the run. Nothing blocks. Independent of plans.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/signal_set.hpp>
#include <termios.h>

#include "base/system/unique_fd.h"
#include "muster/result.h"
#include "run/console/console.h"
#include "wire/protocol/protocol.h"

namespace muster {

// Detects the keys by which the user of a process's terminal requests the end of the run from muster: Ctrl-] three
// times in a row. A pure function of the typed bytes: no clock, and no key is held back.
class StopKeys {
 public:
  static constexpr char kKey = '\x1d';
  static constexpr int kTimes = 3;

  struct Typed {
    std::string passed;  // for the process: everything except each third of these keys
    int stops = 0;       // how often the end was requested
  };
  Typed Feed(std::string_view typed);

 private:
  int in_a_row_ = 0;
};

// The user's terminal, lent to one process: raw meanwhile, and restored afterwards.
//
// Depends on termios(3); not on the process or the typed bytes.
class UserTerminal {
 public:
  // The terminal at this descriptor, which remains owned by the caller and keeps its flags. Kind "terminal", blame
  // kMachine, if it is not a terminal or cannot be opened.
  static Result<UserTerminal> Open(int fd);
  UserTerminal(UserTerminal&&) = default;
  UserTerminal& operator=(UserTerminal&&) = delete;
  ~UserTerminal() { Leave(); }

  // Enters raw mode: every key is a byte, Ctrl-C too, and nothing is echoed. Does nothing while muster is in the
  // background, where the terminal belongs to another job, or if raw mode is on already. Leave() restores the terminal.
  void Enter();
  void Leave();
  bool entered() const { return entered_; }

  PtySize Size() const;
  // The descriptor to poll for input.
  int fd() const { return tty_.get(); }
  // At most this many typed bytes; without blocking. Fails once the terminal is gone.
  Result<std::string> Read(std::size_t most) const;

 private:
  UserTerminal(UniqueFd tty, const termios& found) : tty_(std::move(tty)), found_(found) {}

  UniqueFd tty_;
  termios found_;
  bool entered_ = false;
};

// Connects the user's terminal to the pseudo-terminal of one process, on whatever host: keys and window size go there,
// output comes back.
//
// Depends on the two ends and their flow-control windows (wire/protocol/protocol.h); not on plans. Nothing blocks: keys
// stay in the terminal while the process accepts none, and the process waits while the terminal accepts no output.
// muster's own messages are held back while the two are connected (run/console/console.h).
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
