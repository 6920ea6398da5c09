// Advice about what would keep more of a run's work: another interval between checkpoints, spare hosts. From how long
// checkpoints and the queue took, and how often its hosts failed. Pure.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "run/hosts/host_history.h"

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

struct SparesAdvice {
  unsigned spares = 0;        // more than the run had, …
  unsigned had = 0;           // … which has used them
  double queued_s = 0;        // that another run waits
  double between_lost_s = 0;  // hosts of the job
  double gain = 0;            // more work for each host that is held, as a share

  bool operator==(const SparesAdvice&) const = default;
};

inline constexpr double kWorthAdvising = 0.02;

// Nothing if fewer than three checkpoints are known, nothing has failed, or the gain is not above kWorthAdvising.
// `start_s`: from a start of the processes until they work. `remembered` are the run's hosts in
// earlier runs, `hosts` is their number.
std::optional<CheckpointAdvice> AdviseInterval(std::span<const SavedCheckpoint> saved, double start_s,
                                               const HostFailures& remembered, double hosts);

// "a checkpoint every 11 min instead of every 30 min would keep 3.1 % more: …"
std::string AdviceText(const CheckpointAdvice& advice);

// For a run that a lost host has ended: with s spares only every (s + 1)th lost host sends the job back to the queue,
// for `queued_s`; the spares are held meanwhile. Nothing if no host was lost before, or the gain is not above
// kWorthAdvising.
std::optional<SparesAdvice> AdviseSpares(double queued_s, const HostFailures& remembered, double hosts, unsigned had);

// "1 spare host would keep 4.1 % more: …"
std::string AdviceText(const SparesAdvice& advice);

}  // namespace muster
