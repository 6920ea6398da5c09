// muster run --on ENGINE outside of an allocation: makes the run directory, submits the job that runs the plan in it,
// and follows it.
#pragma once

#include <string>
#include <vector>

#include "cli/launch/plan_source.h"
#include "cli/options/batch_call.h"
#include "muster/result.h"
#include "run/console/console.h"

namespace muster {

struct RunSubmission {
  PlanSource source;
  std::vector<std::string> words;  // of the call, after the command's name
  std::string run_dir;             // --run-dir
  std::vector<std::string> wraps;
  std::string log_max;
  std::vector<std::string> notify;
  std::vector<std::string> tags;
  bool detach = false;
  ConsoleOptions console;
};

// The exit code.
int SubmitRun(RunSubmission submission);

}  // namespace muster
