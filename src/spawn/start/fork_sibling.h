// Forks a process as its sibling: the copy is a child of the same parent, which waits for
// both.
//
// Uses clone(2); independent of the purpose of the copies.
#pragma once

#include <optional>

#include <sys/types.h>

#include "spawn/start/launcher.h"

namespace muster {

// Copies this process, with one thread, as a child of this process's parent. Returns 0 in the copy, its pid in this
// process, minus an errno on failure. The copy gets `death_signal` when the parent's thread exits, and exits at once if
// `parent` is no longer its parent. Handlers of pthread_atfork(3) do not run.
pid_t ForkSibling(int death_signal, pid_t parent);

// Takes over a child of this process that a sibling created; nothing if it is not a child, or was already reaped.
std::optional<Spawned> AdoptChild(pid_t pid, const Mechanisms& mechanisms);

}  // namespace muster
