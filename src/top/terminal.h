// The user's terminal as a full-screen program has it: keys one by one, the other screen, its size; and given back as
// it was found, on every way out.
//
// Knows termios(3) and a few sequences of xterm and its kin; not what is shown.
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
  // The controlling terminal. Kind "terminal", blame kMachine, if there is none. Keys come one by one from now on,
  // unechoed; Ctrl-C and Ctrl-Z stay signals.
  static Result<std::unique_ptr<Terminal>> Open();
  // Leaves.
  ~Terminal();
  Terminal(const Terminal&) = delete;
  Terminal& operator=(const Terminal&) = delete;

  // Gives the terminal back as it was found, and takes it again. Neither blocks, suspended or not; the same twice is
  // done once.
  void Leave();
  void Enter();

  TopSize Size() const;
  // The descriptor to wait at, for keys and for room. Nobody else's flags are changed by using it.
  int fd() const { return tty_.get(); }
  // Shows the bytes without blocking; what the terminal does not take waits for Flush().
  void Show(std::string_view bytes);
  void Flush();
  // Whether everything was taken.
  bool taken() const { return waiting_.empty(); }
  // What has been typed; nothing once the terminal is gone.
  Result<std::string> Read() const;

 private:
  Terminal(UniqueFd tty, const termios& found) : tty_(std::move(tty)), found_(found) {}

  UniqueFd tty_;
  termios found_;
  std::string waiting_;
  bool entered_ = false;
};

}  // namespace muster
