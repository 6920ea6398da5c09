// Generates a recipe that starts what another launcher's command line starts, and describes texts of several
// processes as one word of it. Pure: text in, text out.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "launchers/launcher_call.h"

namespace muster {

// Describes texts of several processes as one word of a recipe.

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

// Generates a recipe that starts what another launcher's command line starts. Pure: text in, text out.

// `shown`: the command line as typed, for the comments at the top, which also list ignored options.
std::string RecipeOfCall(const LauncherCall& call, const std::string& shown, const std::string& file);

// The recipe's name: the script or module of the command without its suffix, as a valid name.
std::string NameOfProgram(const LauncherCall& call);

}  // namespace muster
