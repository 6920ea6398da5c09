// Makes a trial of a running sweep answer requests of its own.
#pragma once

#include <string>

#include "sweep/record/sweep_events.h"

namespace muster {

// A trial opens its control socket only after a while. Asks its sweep's head to open it now, within a few seconds. When
// this returns, a running trial has a run directory. The head refuses a trial that has ended, whose directory is
// complete; commands that contact a trial report other failures themselves.
void OpenTrialSocket(const std::string& sweep_dir, TrialNumber trial);

}  // namespace muster
