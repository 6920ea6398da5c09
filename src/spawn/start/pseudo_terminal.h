// A pseudo-terminal: what a process takes for its terminal, and the other end of it.
//
// Knows pty(7); not who is at either end.
#pragma once

#include <sys/ioctl.h>
#include <tl/expected.hpp>

#include "base/system/unique_fd.h"
#include "spawn/start/launcher.h"

namespace muster {

struct PseudoTerminal {
  UniqueFd master;  // non-blocking: what is written to it has been typed, what is read from it the process wrote
  UniqueFd slave;   // the process's terminal
};

// A new one with a window of this size, in the modes a terminal has at first, and with bytes above 127 taken for UTF-8.
// It becomes nobody's controlling terminal. Spawn stage "descriptors" if the kernel refuses it.
tl::expected<PseudoTerminal, SpawnError> OpenPseudoTerminal(const winsize& size);

}  // namespace muster
