// The ledger of device time of runs and sweeps, from their folders: with the runs that a run continued, the attempts of
// a job, and the trials of a sweep.
#pragma once

#include <string>
#include <vector>

#include "muster/result.h"
#include "muster/value.h"
#include "run/report/ledger.h"
#include "sweep/index/sweep_view.h"

namespace muster {

struct WorkLedger {
  Ledgers ledgers;
  // What it lacks, a phrase each: runs that others continued and that were not found, directories that cannot be read.
  std::vector<std::string> missing;
};

// Of all of them together, each run counted once. A run brings those that it continued from a checkpoint, and the other
// attempts of its job; rehearsals only count if they, or those that continued them, are named. Fails if a named one
// cannot be read; one of `found` (WorkIn) is missing then.
Result<WorkLedger> LedgerOfWork(const std::vector<NamedRunOrSweep>& named,
                                const std::vector<NamedRunOrSweep>& found = {});

// The runs and sweeps in a folder of runs, of sweeps, one that has both, or one with those of one name.
std::vector<NamedRunOrSweep> WorkIn(const std::string& folder);

std::string WorkLedgerText(const WorkLedger& ledger);
// An object with "format", "ledger", "missing", and if some runs had no devices and others did, their own ledger in
// "process_slots".
std::string WorkLedgerJson(const WorkLedger& ledger);
std::string WorkLedgerSchema();
// For a page: "counts", "total", "runs", "drills" and "rows", each with "name", "seconds" and those of drills,
// "drilled"; null without any time.
Value WorkLedgerValue(const WorkLedger& ledger);

}  // namespace muster
