// muster ls of sweeps: which there are, and the trials of one.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cli/options/list_choice.h"
#include "muster/result.h"

namespace muster {

// The sweep that the words of `muster ls` name, if that is what they name: one word, neither a run directory nor a
// folder of runs.
std::optional<std::string> SweepMeant(const std::vector<std::string>& words);

// Trials of the sweep in that folder, by number if nothing else is said; at most `limit`. Prints them; how many there
// are.
Result<std::size_t> ListTrials(const std::string& sweep_dir, const ListChoice& choice,
                               std::optional<std::uint64_t> limit, bool json);

// The sweeps below the folder of all, newest first. Prints them; a table with nothing in it is not shown. An error for
// each that cannot be read, which names it.
Result<Diagnostics> ListSweeps(bool json, bool even_if_none);

}  // namespace muster
