// Steps of muster run for runs on other hosts: checking the hosts, shipping the code, and recording hosts that
// failed.
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

// For a run on this machine alone: an option without effect is an error of kind "usage".
Result<void> RefuseElsewhereOptions(const ElsewhereOptions& options);

// Reads the code to ship, reports on stderr which files are not shipped, and warns about hosts that failed recently.
// The rest of the request must be complete.
Result<void> ApplyElsewhereOptions(const ElsewhereOptions& options, RunRequest& request);

}  // namespace muster
