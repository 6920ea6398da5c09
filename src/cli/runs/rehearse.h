// What muster rehearse does where muster run would run: the same request with stubs, and a table at the end.
#pragma once

#include <string>

#include <CLI/App.hpp>

#include "run/session/run_request.h"
#include "transport/channel.h"
#include "transport/transport.h"

namespace muster {

struct RehearseOptions {
  std::string within;  // a time; empty: not given
  bool json = false;
};

void AddRehearseOptions(CLI::App& app, RehearseOptions& options);

// Runs the rehearsal to its end, prints what it found and gives muster's exit code. The request is complete but for
// what is the rehearsal's own.
int Rehearse(const RehearseOptions& options, RunRequest request, Transport& transport);

}  // namespace muster
