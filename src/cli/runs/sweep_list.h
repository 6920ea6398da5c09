// The sweeps in the output of ps, with their running trials, as rows and as JSON.
#pragma once

#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "muster/result.h"
#include "sweep/watch/sweep_snapshot.h"

namespace muster {

struct ListedSweep {
  SweepSnapshot look;
  std::string word;  // its name (cli/lookup/run_or_sweep.h)

  // "job:12", "job:12.2".
  std::string NameOf(const RunningTrial& trial) const { return word + ":" + trial.Word(); }
};

struct SweepList {
  std::vector<ListedSweep> sweeps;  // newest first
  Diagnostics unreadable;           // an error for each that cannot be read
};

// The sweeps of these folders, each a sweeps folder or a sweep directory; by default those below $MUSTER_HOME or the
// current folder. With `live_only` sweeps without an active head are not read.
Result<SweepList> ListSweeps(const std::vector<std::string>& folders, bool live_only);

void PrintSweepTable(const std::vector<ListedSweep>& sweeps);
// By role.
nlohmann::json MetricsJson(const RoleReports& reports);

nlohmann::json SweepListJson(const std::vector<ListedSweep>& sweeps);

}  // namespace muster
