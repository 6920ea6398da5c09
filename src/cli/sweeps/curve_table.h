// Exports the curves of a sweep's trials, or of a run, as a table: a row for each report of a process.
//
// Columns: trial and id (of a sweep), role, index and report (from 1), then param.NAME for each parameter and
// metric.NAME for each metric that is a number; the same for every row. A value that is not finite is nan, in JSON
// null.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "cli/sweeps/trial_table.h"
#include "muster/result.h"

namespace muster {

// Passes rows to `put` one by one, which returns false to stop. The curve of a trial is that of the attempt that it
// keeps, with those that this one continues; of a role that of its first process that reported anything. Fails as
// FindRunOrSweep (cli/lookup/run_or_sweep.h), if rows of the sweep cannot be read, and for conditions of a run.
[[nodiscard]] Result<void> WriteCurves(const std::string& run_or_sweep, const TableChoice& choice,
                                       const std::function<bool(std::string_view bytes)>& put);

}  // namespace muster
