// muster export --tensorboard: writes event files of a run, or of all trials of a sweep.
#pragma once

#include <cstdint>
#include <string>

#include "muster/result.h"

namespace muster {

struct TensorboardExport {
  std::string folder;         // that has a folder for each run or trial
  std::uint64_t runs = 0;     // for which a file was written
  std::uint64_t scalars = 0;  // in all of them
};

// Writes below `folder`: NAME-ID/ for a run, NAME-ID/TRIAL/ for each trial of a sweep that has begun. An existing
// NAME-ID is refused; with `overwrite` the event files that were exported there before are replaced. Warns of metrics
// that were too long to be read whole.
Result<TensorboardExport> ExportTensorboard(const std::string& run_or_sweep, const std::string& folder, bool overwrite);

}  // namespace muster
