#include "cli/run_sweep.h"

#include "cli/exit_code.h"
#include "cli/print_diagnostics.h"

namespace muster {

int RunSweep(SweepCall& call) {
  PrintDiagnostics({Error("sweep", {}, "this muster cannot run the trials of " + call.described.sweep.name + " yet",
                          "--preview tells what they would be")});
  return kExitMachine;
}

}  // namespace muster
