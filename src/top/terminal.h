// The user's terminal in full-screen mode: single keys, alternate screen, size; restored on every
// exit.
//
// Uses termios(3) and some xterm sequences; independent of what is shown.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include <termios.h>

#include "base/system/unique_fd.h"
#include "muster/result.h"
#include "top/view.h"

namespace muster {

class Terminal {
 public:
  // Opens the controlling terminal. Kind "terminal", blame kMachine, if there is none. From now on keys are read one by
  // one, without echo; Ctrl-C and Ctrl-Z stay signals.
  static Result<std::unique_ptr<Terminal>> Open();
  // Restores the terminal.
  ~Terminal();
  Terminal(const Terminal&) = delete;
  Terminal& operator=(const Terminal&) = delete;

  // Restores the terminal, and enters full-screen mode again. Neither blocks, suspended or not; both are
  // idempotent.
  void Leave();
  void Enter();

  TopSize Size() const;
  // The descriptor to wait for, for reading and writing. It shares its flags with nobody.
  int fd() const { return tty_.get(); }
  // Writes the bytes without blocking; what the terminal does not accept waits for Flush().
  void Show(std::string_view bytes);
  void Flush();
  // Whether everything was written.
  bool taken() const { return waiting_.empty(); }
  // The typed bytes; an error once the terminal is gone.
  Result<std::string> Read() const;

 private:
  Terminal(UniqueFd tty, const termios& found) : tty_(std::move(tty)), found_(found) {}

  UniqueFd tty_;
  termios found_;
  std::string waiting_;
  bool entered_ = false;
};

}  // namespace muster
