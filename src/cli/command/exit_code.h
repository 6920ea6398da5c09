// The exit code of a command that ends by errors of its own.
#pragma once

#include "muster/diagnostic.h"
#include "muster/exit_code.h"

namespace muster {

// The code of a command that ends by errors of its own, not of a process: that of the first diagnostic.
int ExitCodeFor(const Diagnostics& diagnostics);

}  // namespace muster
