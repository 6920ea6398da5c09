#include "sweep/scheduler/recorded_progress.h"

#include <utility>

namespace muster {

RecordedProgress::RecordedProgress(SweepProgress progress, std::function<bool(const SweepEntry&)> write)
    : progress_(std::move(progress)), write_(std::move(write)) {}

bool RecordedProgress::Record(const SweepEntry& entry) {
  if (!write_(entry)) {
    stopping_ = true;
    return false;
  }
  progress_.Take(entry);
  return true;
}

}  // namespace muster
