// The exit codes of muster, of its commands and of runs and sweeps. docs/commands.md has the table for users.
#pragma once

namespace muster {

inline constexpr int kExitOk = 0;
inline constexpr int kExitProcessFailed = 1;
inline constexpr int kExitDiffer = 1;        // muster diff: both are known, and they differ
inline constexpr int kExitNotPossible = 1;   // muster why-not: the values are not
inline constexpr int kExitNothing = 1;       // muster ls: no run matches, as with grep
inline constexpr int kExitUnreadable = 1;    // muster ls, ps: some runs cannot be read; logs, report, page: some logs
inline constexpr int kExitRecipe = 2;        // recipe or usage
inline constexpr int kExitMachine = 3;       // spawning, files, hosts
inline constexpr int kExitTrialsFailed = 4;  // a sweep ended, and some of its trials failed
inline constexpr int kExitBusy = 75;         // the run directory is in use

}  // namespace muster
