// What a sweep's trials are made of, now and when it began: files of the recipe, variables that it asked for, and the
// points that they are.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "muster/result.h"
#include "space/sweep_description.h"

namespace muster {

struct SweepChanges {
  std::map<std::string, std::string> files;  // below recipe/ -> bytes as they are now
  std::vector<std::string> variables;        // that have another value, or none
  std::string text;                          // for people: what differs, line by line

  bool empty() const { return files.empty() && variables.empty(); }
};

// Compares what the sweep's folder keeps with what lies where it was read from. A file that is not there any more is
// no change: what is kept is gone on with.
Result<SweepChanges> ChangesOfSweep(const std::string& sweep_dir);

// Puts them into the folder (its descriptor) in the place of what was kept; links to that keep what they had.
Result<void> TakeChanges(int folder, const std::string& sweep_dir, const SweepChanges& changes);

// Trials are known by their number: another point of the same number would be taken for one that is over. Kind
// "points_changed" if the sweep, as it is described now, has other points than when it began.
Result<void> CheckSamePoints(const std::string& sweep_dir, const SweepDescription& sweep);

}  // namespace muster
