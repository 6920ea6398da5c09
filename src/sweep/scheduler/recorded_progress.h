// The progress of a sweep together with its journal: an entry takes effect only after it was written.
#pragma once

#include <functional>

#include "sweep/record/sweep_events.h"
#include "sweep/record/sweep_progress.h"

namespace muster {

class RecordedProgress {
 public:
  // `progress` contains all earlier entries. `write` appends an entry to the journal and returns whether it could.
  RecordedProgress(SweepProgress progress, std::function<bool(const SweepEntry&)> write);
  RecordedProgress(const RecordedProgress&) = delete;
  RecordedProgress& operator=(const RecordedProgress&) = delete;

  // Writes the entry, then applies it. False if it could not be written: it has no effect then, and no trial begins any
  // more.
  bool Record(const SweepEntry& entry);
  const SweepProgress& progress() const { return progress_; }

  // No trial begins after this; ends of running trials are still recorded.
  void Stop() { stopping_ = true; }
  bool stopping() const { return stopping_; }

 private:
  SweepProgress progress_;
  std::function<bool(const SweepEntry&)> write_;
  bool stopping_ = false;
};

}  // namespace muster
