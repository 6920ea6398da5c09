// Runs a rehearsal: the request of muster run with stubs instead of the processes, and a table at the end.
#pragma once

#include <string>

#include <CLI/App.hpp>

#include "run/session/run_request.h"
#include "transport/channel.h"
#include "transport/transport.h"

namespace muster {

struct RehearseOptions {
  std::string within;  // a duration; empty: not given
  bool json = false;
};

void AddRehearseOptions(CLI::App& app, RehearseOptions& options);

// Runs the rehearsal, prints its findings and returns muster's exit code. The request is complete except for the
// rehearsal's own settings.
int Rehearse(const RehearseOptions& options, RunRequest request, Transport& transport);

}  // namespace muster
