// Continues this process in the background: forks, and the new process has no terminal and no waiting parent. Handles
// descriptors and sessions only.
#pragma once

#include <tl/expected.hpp>

#include "base/system/unique_fd.h"

namespace muster {

struct Detached {
  bool in_background = false;  // true in the new process
  UniqueFd line;               // a stream socket to the other process, close-on-exec
};

// Forks. The new process leads a session without a terminal; its stdin and stdout are /dev/null, its stderr an unnamed
// file. It keeps only one other descriptor, `line`, so that it holds no pipe open that other processes read. Until
// OutliveCaller it gets SIGTERM when the old process exits. Call it with one thread and no children that matter: they
// stay with the old process. The error is an errno.
tl::expected<Detached, int> DetachFromCaller();

// In the new process: from now on it survives the exit of the old one.
void OutliveCaller();

}  // namespace muster
