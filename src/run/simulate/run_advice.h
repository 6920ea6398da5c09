// Advice about the interval between checkpoints, from how long they took and how often the hosts failed. Pure.
#pragma once

#include <optional>
#include <span>
#include <string>

namespace muster {

// When a checkpoint was written, in seconds of one clock.
struct SavedCheckpoint {
  double from = 0;
  double to = 0;
};

struct CheckpointAdvice {
  double interval_s = 0;  // work between the checkpoints of the run
  double best_s = 0;      // … and what would keep most (BestInterval)
  double save_s = 0;
  double between_failures_s = 0;
  double gain = 0;  // more work that is kept, as a share

  bool operator==(const CheckpointAdvice&) const = default;
};

inline constexpr double kWorthAdvising = 0.02;

// Nothing if fewer than three checkpoints are known, nothing has failed, or the gain is not above kWorthAdvising.
// `start_s`: from a start of the processes until they work. `host_seconds` and `failures` are those of the hosts of
// earlier runs, `hosts` the number of the run's.
std::optional<CheckpointAdvice> AdviseInterval(std::span<const SavedCheckpoint> saved, double start_s,
                                               double host_seconds, double failures, double hosts);

// "a checkpoint every 11 min instead of every 30 min would keep 3.1 % more: …"
std::string AdviceText(const CheckpointAdvice& advice);

}  // namespace muster
