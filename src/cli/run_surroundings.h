// What every run that this call of muster starts has in common, whatever it runs.
#pragma once

#include "muster/result.h"
#include "run/session.h"

namespace muster {

// Environment, current folder, and the folder of this program, where commands are looked up after PATH.
Result<void> SurroundRun(RunRequest& request);

}  // namespace muster
