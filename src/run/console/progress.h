// The progress of a run as a row for each role: shown by `muster run` on a terminal during the run.
//
// Computes the rows from counts and last lines; they are displayed elsewhere (run/loop/output.h).
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "muster/plan.h"
#include "run/control/control_protocol.h"
#include "run/supervise/run_process_table.h"
#include "run/supervise/supervisor.h"

namespace muster {

struct Progress {
  struct Role {
    RoleStatus count;
    std::string last_line;     // of the most informative process, named in it; safe for a terminal, may be empty
    std::string metrics = {};  // the newest, "step 100, loss 0.25"; safe for a terminal, may be empty
  };
  std::string phase;
  double seconds = 0;  // run time so far
  std::vector<Role> roles;
};

// The current progress; logs are read below the run directory, whose descriptor is `run_folder`.
Progress ProgressNow(const Plan& plan, const Supervisor& supervisor, const RunProcessTable& process_table,
                     int run_folder, MonotonicNs began_at, MonotonicNs now);

// A line for each role, at most `most` (at least one), each narrower than `columns`; the last one mentions omitted
// roles.
std::vector<std::string> ProgressRows(const Progress& progress, std::size_t columns, std::size_t most);

}  // namespace muster
