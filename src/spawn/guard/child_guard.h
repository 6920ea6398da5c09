// The guard of one process: its parent, which has nothing else to do, and which is left if those that started the
// process are gone (docs/decisions/0061-every-agent-has-a-guard.md).
//
// Knows signals and waits; what the guard does once the process has ended is its caller's business.
#pragma once

#include <cstdint>
#include <functional>

#include <sys/types.h>

#include "spawn/start/reap.h"
#include "wire/lease/lease.h"

namespace muster {

// Waits for the end of a child, and reaps it. SIGTERM is passed on, and a child that has not ended so long after that
// is killed. So is one that has been stopped (SIGSTOP) for `most_stopped_ms`, which is asked then; 0: it may be stopped
// for as long as it likes. To be called in a process of one thread that has SIGCHLD and SIGTERM blocked.
EndedProcess GuardChild(pid_t child, const std::function<std::uint64_t()>& most_stopped_ms,
                        std::uint64_t patience_ms = kDefaultLeaseMs);

// Ends this process as that one has: with its exit code, or by its signal, without a core dump of its own.
[[noreturn]] void EndAs(const EndedProcess& ended);

// How many processes a guard has killed, told through a pipe.
void TellKilled(int pipe, std::uint32_t killed);
// 0 if nothing was told. Does not wait.
std::uint32_t KilledByGuard(int pipe);

}  // namespace muster
