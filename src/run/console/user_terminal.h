// The user's terminal, lent to one process: raw meanwhile, and restored afterwards.
//
// Depends on termios(3); not on the process or the typed bytes.
#pragma once

#include <string>

#include <termios.h>

#include "base/system/unique_fd.h"
#include "muster/result.h"
#include "wire/protocol/terminal_messages.h"

namespace muster {

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

}  // namespace muster
