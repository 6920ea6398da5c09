// The exit codes of muster. docs/commands.md has the table for users.
#pragma once

#include "muster/diagnostic.h"

namespace muster {

inline constexpr int kExitOk = 0;
inline constexpr int kExitProcessFailed = 1;
inline constexpr int kExitDiffer = 1;      // muster diff: both are known, and they differ
inline constexpr int kExitNothing = 1;     // muster ls: no run matches, as with grep
inline constexpr int kExitUnreadable = 1;  // muster ls, ps: some runs cannot be read; logs, report, page: some logs
inline constexpr int kExitRecipe = 2;      // recipe or usage
inline constexpr int kExitMachine = 3;     // spawning, files, hosts
inline constexpr int kExitBusy = 75;       // the run directory is in use

// The code of a command that ends by errors of its own, not of a process: that of the first diagnostic.
int ExitCodeFor(const Diagnostics& diagnostics);

}  // namespace muster
