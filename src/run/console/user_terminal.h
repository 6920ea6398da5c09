// The terminal that the user sits at, lent to one process: raw while it is lent, and given back as it was found.
//
// Knows termios(3); not whom it is lent to, nor what is typed.
#pragma once

#include <string>

#include <termios.h>

#include "base/system/unique_fd.h"
#include "muster/result.h"
#include "wire/protocol/terminal_messages.h"

namespace muster {

class UserTerminal {
 public:
  // The terminal at this descriptor, which stays the caller's and keeps its flags. Kind "terminal", blame kMachine, if
  // it is none or cannot be opened.
  static Result<UserTerminal> Open(int fd);
  UserTerminal(UserTerminal&&) = default;
  UserTerminal& operator=(UserTerminal&&) = delete;
  ~UserTerminal() { Leave(); }

  // Every key is a byte from now on, Ctrl-C too, and nothing is echoed; does nothing while muster is in the background,
  // where the terminal is another's. Leave gives it back. The same twice is done once.
  void Enter();
  void Leave();
  bool entered() const { return entered_; }

  PtySize Size() const;
  // The descriptor to wait at.
  int fd() const { return tty_.get(); }
  // At most so many bytes of what was typed; without blocking. Fails once the terminal is gone.
  Result<std::string> Read(std::size_t most) const;

 private:
  UserTerminal(UniqueFd tty, const termios& found) : tty_(std::move(tty)), found_(found) {}

  UniqueFd tty_;
  termios found_;
  bool entered_ = false;
};

}  // namespace muster
