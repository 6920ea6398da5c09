// muster ls SWEEP SWEEP …: sweeps side by side, and the points that all of them tried.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "muster/result.h"

namespace muster {

// The directories of the sweeps that the words name if there are two or more words and one of them names a sweep; empty
// otherwise. Kind "usage" if only some of them do.
Result<std::vector<std::string>> SweepsMeant(const std::vector<std::string>& words);

// Prints axes, objectives, counts and best points of the sweeps, and then the points that all of them tried with the
// result of each, those that are best in the first sweep first; at most `limit` of these (on a terminal 20 unless
// given).
Result<void> CompareSweeps(const std::vector<std::string>& sweep_dirs, std::optional<std::uint64_t> limit, bool json);

}  // namespace muster
