// A process that copies itself without becoming the parent of the copy: the two are children of one parent, which waits
// for both.
//
// Knows clone(2); does not know what the copies are for.
#pragma once

#include <optional>

#include <sys/types.h>

#include "spawn/start/launcher.h"

namespace muster {

// A copy of this process, with one thread, as a child of this process's parent. 0 in the copy, its pid in this process,
// minus an errno if there is none. The copy has `death_signal` sent to it when the parent's thread ends, and is gone
// already if `parent` is no longer its parent. No handlers of pthread_atfork(3) run.
pid_t ForkSibling(int death_signal, pid_t parent);

// A child of this process that another made for it; nothing if it is none, or was reaped already.
std::optional<Spawned> AdoptChild(pid_t pid, const Mechanisms& mechanisms);

}  // namespace muster
