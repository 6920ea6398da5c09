// The guard (watchdog) of one process: its parent, which does nothing else and survives if the process's other
// relatives are gone (docs/decisions/0061-every-agent-has-a-guard.md).
//
// Handles signals and waits; the caller decides what the guard does after the process has exited.
#pragma once

#include <csignal>
#include <cstdint>
#include <functional>

#include <sys/types.h>

#include "spawn/start/reap.h"
#include "wire/lease/lease.h"

namespace muster {

// The parent-death signal for whatever becomes a guard on this machine: unlike SIGTERM it also takes effect in a
// process that has been stopped.
inline constexpr int kGuardDeathSignal = SIGCONT;

// Waits for the exit of a child and reaps it. Forwards SIGTERM, takes the end of its own parent (kGuardDeathSignal) for
// one, and kills a child that has not exited `patience_ms` later, unless `goes_on`, called then, says that it has
// decided to go on. Also kills a child that has been stopped (SIGSTOP) for `most_stopped_ms`, a function called at that
// moment; 0: no limit. Time in which the guard itself did not run does not count: it was stopped together with the
// child. Must be called in a single-threaded process that has SIGCHLD and SIGTERM blocked.
EndedProcess GuardChild(pid_t child, const std::function<std::uint64_t()>& most_stopped_ms,
                        std::uint64_t patience_ms = kDefaultLeaseMs, const std::function<bool()>& goes_on = {});

// Exits in the same way: with that exit code, or by that signal, without a core dump of its own.
[[noreturn]] void EndAs(const EndedProcess& ended);

// Writes the number of processes that a guard has killed to a pipe.
void WriteKilledCount(int pipe, std::uint32_t killed);
// Reads that number; 0 if none was written. Does not block.
std::uint32_t ReadKilledCount(int pipe);

}  // namespace muster
