// Describes texts of several processes as one word of a recipe.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "launchers/launcher_call.h"

namespace muster {

// Where a process stands; its texts are those of the script for it.
struct ProcessPlace {
  int rank = 0;
  int local_rank = 0;
  int host = 0;
};

// The word whose value is texts[i] for the process places[i]: the same for all, or with numbers that are linear in the
// rank, the local rank or the number of the host for every process, else a list. `shifted`: the first text if the rank
// were another number, which shows what was computed from the rank; empty if it is not known. `by_rank`: prefer the
// rank.
CallWord FittedWord(const std::vector<std::string>& texts, const std::vector<ProcessPlace>& places,
                    const std::string& shifted, bool by_rank);

}  // namespace muster
