// Creates a pseudo-terminal: the terminal of a process, and its other end.
//
// Uses pty(7); independent of the processes at either end.
#pragma once

#include <sys/ioctl.h>
#include <tl/expected.hpp>

#include "base/system/unique_fd.h"
#include "spawn/start/launcher.h"

namespace muster {

struct PseudoTerminal {
  UniqueFd master;  // non-blocking: bytes written to it are typed input, bytes read are the process's output
  UniqueFd slave;   // the process's terminal
};

// A new terminal with a window of this size, default modes, and input treated as UTF-8. It does not become a
// controlling terminal. Spawn stage "descriptors" if the kernel refuses it.
tl::expected<PseudoTerminal, SpawnError> OpenPseudoTerminal(const winsize& size);

}  // namespace muster
