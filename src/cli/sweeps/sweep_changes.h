// What a sweep's trials are made of, now and when it began: files of the recipe, variables that it asked for, and the
// points that they are.
#pragma once

#include <string>

#include "muster/result.h"
#include "space/sweep_description.h"

namespace muster {

// What differs between what the sweep's folder keeps and what lies where it was read from, line by line for people;
// empty if nothing does. A file that is not there any more is no change: what is kept is gone on with.
Result<std::string> ChangesOfSweep(const std::string& sweep_dir);

// Of everything that the folder keeps of what trials are made of: for SweepBegan::recipe.
Result<std::string> RecipeHashOf(const std::string& sweep_dir);

// Trials are known by their number: another point of the same number would be taken for one that is over. Kind
// "points_changed" if the sweep, as it is described now, has other points than when it began, "rules_changed" if its
// results are compared by another objective or rule.
Result<void> CheckSameSweep(const std::string& sweep_dir, const SweepDescription& sweep);

}  // namespace muster
