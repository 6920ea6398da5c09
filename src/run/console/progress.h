// How far a run is, in a row for each role: what `muster run` shows on a terminal while it waits.
//
// Knows counts and last lines; not when it is shown, nor how it comes below other text (run/loop/output.h).
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
    std::string last_line;     // of its oddest process, with its name before; safe for a terminal, may be empty
    std::string metrics = {};  // its newest: "step 100, loss 0.25"; safe for a terminal, may be empty
  };
  std::string phase;
  double seconds = 0;  // the run's
  std::vector<Role> roles;
};

// At this moment; logs are read below the run directory, whose descriptor is `run_folder`.
Progress ProgressNow(const Plan& plan, const Supervisor& supervisor, const RunProcessTable& roll, int run_folder,
                     MonotonicNs began_at, MonotonicNs now);

// A line for each role, at most `most` (at least one), each narrower than `columns`; the last one tells of roles left
// out.
std::vector<std::string> ProgressRows(const Progress& progress, std::size_t columns, std::size_t most);

}  // namespace muster
