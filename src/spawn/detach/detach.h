// Going on in the background: this process becomes two, of which the new one belongs to no terminal and to no
// caller. Knows descriptors and sessions, not what goes on.
#pragma once

#include <tl/expected.hpp>

#include "base/system/unique_fd.h"

namespace muster {

struct Detached {
  bool in_background = false;  // whether this is the new process
  UniqueFd line;               // a stream socket to the other one, closed on exec
};

// Forks. The new process is the leader of a session without a terminal; its stdin and stdout are /dev/null, its stderr
// an unnamed file; of other descriptors it has `line` alone, so that nobody waits for a pipe that it holds. Until
// OutliveCaller it gets SIGTERM when the old one ends. Call it with one thread and without children that matter: they
// stay the old process's. The error is an errno.
tl::expected<Detached, int> DetachFromCaller();

// In the new process: from now on the old one's end is nothing to it.
void OutliveCaller();

}  // namespace muster
