// The progress of a sweep as its journal has it: an entry counts only after it was written.
#pragma once

#include <functional>

#include "sweep/record/sweep_events.h"
#include "sweep/record/sweep_progress.h"

namespace muster {

class RecordedProgress {
 public:
  // `progress` is that of all entries so far. `write` appends an entry to the journal and returns whether it could.
  RecordedProgress(SweepProgress progress, std::function<bool(const SweepEntry&)> write);
  RecordedProgress(const RecordedProgress&) = delete;
  RecordedProgress& operator=(const RecordedProgress&) = delete;

  // Writes the entry, then applies it. False if it could not be written: it does not count, and this is stopping().
  bool Record(const SweepEntry& entry);
  const SweepProgress& progress() const { return progress_; }

  // No trial begins any more. Ends of running ones are still recorded.
  void Stop() { stopping_ = true; }
  bool stopping() const { return stopping_; }

 private:
  SweepProgress progress_;
  std::function<bool(const SweepEntry&)> write_;
  bool stopping_ = false;
};

}  // namespace muster
