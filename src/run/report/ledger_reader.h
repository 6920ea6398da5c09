// Reads what the ledger of a run needs besides its journal: its checkpoints, whether its work stood still while they
// were written, and the job that it was submitted as.
#pragma once

#include <string>

#include "muster/result.h"
#include "run/report/ledger.h"

namespace muster {

// Its place among other runs (`continues`) is left to the caller, and `queued_ns` is the time since its submission if
// it is the first or only attempt of a job. Fails as ReadRun, and with kind "run" if the journal has no first record.
Result<LedgerRun> ReadLedgerRun(const std::string& run_dir);

}  // namespace muster
