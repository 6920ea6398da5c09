// What was run: the part "Set-up" of the page of a sweep, as names and texts.
#pragma once

#include <string>

#include "muster/value.h"
#include "sweep/record/sweep_directory.h"

namespace muster {

// [{name, value}] of the sweep in `dir`: its command, space, sampler, rules, budget, note, and, by a trial of it, the
// parameters that are not swept and the state of git. `description`: of sweep.json; what it does not say is left out.
// `trial_dir`: the run directory of that trial; empty: none has begun.
Value SetupOf(const std::string& dir, const SweepFile& file, const Value& description, const std::string& trial_dir);

}  // namespace muster
