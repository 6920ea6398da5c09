// Detects changes of a sweep's inputs since its beginning: files of the recipe, variables that it read, and its
// points.
#pragma once

#include <string>

#include "muster/result.h"
#include "space/sweep_description.h"

namespace muster {

// The differences between the stored files and the originals, line by line as text; empty if there are none. A missing
// original is no change: the stored file is used.
Result<std::string> ChangesOfSweep(const std::string& sweep_dir);

// A hash of all stored inputs of the trials: for SweepBegan::recipe.
Result<std::string> RecipeHashOf(const std::string& sweep_dir);

// Gives a sweep that began before unions had weights the draws that it began with.
Result<void> KeepDraws(const std::string& sweep_dir, SweepDescription& sweep);

// Trials are identified by number: a different point with the same number would be taken for a finished one. Kind
// "points_changed" if the current description has other points than at the beginning, "rules_changed" if it has another
// objective or rule.
Result<void> CheckSameSweep(const std::string& sweep_dir, const SweepDescription& sweep);

}  // namespace muster
