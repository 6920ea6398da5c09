// What muster run does on top where a run is on other hosts: looking at them first, bringing them the code, and
// remembering those that failed.
#pragma once

#include <string>

#include <CLI/App.hpp>

#include "muster/result.h"
#include "run/session/run_request.h"

namespace muster {

struct ElsewhereOptions {
  bool no_preflight = false;
  std::string ship_code;   // a folder; empty: nothing is shipped
  std::string ship_limit;  // a size
};

void AddElsewhereOptions(CLI::App& app, ElsewhereOptions& options);

// Of a run on this machine alone: an option that would have no effect is an error of kind "usage".
Result<void> RefuseElsewhereOptions(const ElsewhereOptions& options);

// Reads the code that is shipped, says on stderr what of it is not, and warns of hosts that failed lately. The rest of
// the request is there already.
Result<void> ApplyElsewhereOptions(const ElsewhereOptions& options, RunRequest& request);

}  // namespace muster
