// Runs a plan on this machine. Needs the program muster-agent, which starts the plan's processes.
#pragma once

#include <string>
#include <vector>

#include "muster/plan.h"
#include "muster/result.h"

namespace muster {

struct RunSettings {
  std::string run_dir;               // the run directory itself; empty: a new one below `runs_folder`
  std::string runs_folder = "runs";  // gets NAME/TIME-ID
  std::vector<std::string> tags;     // words, or NAME=VALUE
  bool show = false;                 // progress and the processes' output, on stdout and stderr, as `muster run` does
  bool catch_signals = true;         // SIGINT, SIGTERM and SIGHUP stop the run while it lasts; SIGPIPE is ignored
  std::string agent;                 // path of muster-agent; empty: beside the calling program
};

struct RunResult {
  std::string run_id;
  std::string run_dir;  // absolute
  std::string outcome;  // "ok", "failed", "stopped" or "lost"
  int exit_code = 0;    // with which `muster run` would exit: 0 ok, 1 a process failed, 3 the machine, 128+n signal n
  std::string why;      // one sentence; empty on success
};

// Blocks until every process of the plan has exited, whatever the outcome; a failed run is a result, not an error.
// Processes inherit the caller's environment and current folder, unless the plan sets others. Fails, with nothing
// started, if the plan cannot be run: its hosts have names (kind "hosts"), the run directory is in use (Blame::kBusy)
// or cannot be created (Blame::kMachine), a secret is missing.
// While it runs, the calling process is a subreaper: call it from one thread at a time, and start no other children
// meanwhile. The run directory has the plan but not the recipe: `muster replay` runs it again.
Result<RunResult> RunHere(const Plan& plan, const RunSettings& settings = {});

}  // namespace muster
