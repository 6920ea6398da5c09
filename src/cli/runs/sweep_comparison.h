// muster ls SWEEP SWEEP …: compares sweeps, and the points that all of them tried.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "muster/result.h"

namespace muster {

// The directories of the named sweeps if there are two or more words and one of them names a sweep; empty otherwise.
// Kind "usage" if only some of them do.
Result<std::vector<std::string>> SweepsMeant(const std::vector<std::string>& words);

// Prints axes, objectives, counts and best points of the sweeps, and then the points that all of them tried
// with each result, sorted by the first sweep's results; at most `limit` of these (default on a terminal:
// 20).
Result<void> CompareSweeps(const std::vector<std::string>& sweep_dirs, std::optional<std::uint64_t> limit, bool json);

}  // namespace muster
