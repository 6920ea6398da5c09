// muster ls for sweeps: the list of sweeps, and the trials of one.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cli/lookup/list_choice.h"
#include "muster/result.h"

namespace muster {

// The sweep that the words of `muster ls` name, if any: a single word that is neither a run directory nor a folder of
// runs.
std::optional<std::string> SweepMeant(const std::vector<std::string>& words);

// Prints the trials of the sweep in that folder, by default sorted by number; at most `limit`. Returns their
// number.
Result<std::size_t> ListTrials(const std::string& sweep_dir, const ListChoice& choice,
                               std::optional<std::uint64_t> limit, bool json);

// Prints the sweeps below the default folder, newest first. An empty table is only printed if `even_if_none`. Returns
// an error for each sweep that cannot be read.
Result<Diagnostics> ListSweeps(bool json, bool even_if_none);

}  // namespace muster
