// How far a sweep is, in words: what its head shows while it goes on, and what it says at the end. Texts are safe for a
// terminal; nothing is shown here.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "space/sweep_description.h"
#include "sweep/record/sweep_progress.h"

namespace muster {

struct SweepStatus {
  const SweepProgress* account = nullptr;
  const SweepDescription* sweep = nullptr;
  std::size_t running = 0;
  std::size_t waiting = 0;  // that have begun, for devices
  std::uint32_t devices_in_use = 0;
  std::uint32_t devices = 0;        // of all hosts, each as often as trials may share it
  double seconds = 0;               // since this head began
  std::uint64_t over_at_begin = 0;  // trials that were over then
};

// How many seconds are left at the rate of this head; nothing before a trial was over.
std::optional<double> Forecast(const SweepStatus& status);

// "212 of 1000 trials over: 198 ok, 10 stopped, 4 failed", then what runs, the best so far, and the forecast: at most
// `most` rows, each narrower than `columns`.
std::vector<std::string> StatusRows(const SweepStatus& status, std::size_t columns, std::size_t most);

// "trial 12 ok in 3.2 s: loss 0.31 (lr=0.1, workers=4)", without a newline. The objective's own value, not the loss.
std::string AttemptLine(const SweepDescription& sweep, const Point& point, const AttemptEnded& ended);

// What is said at the end: counts, the best, the failures by class, what cannot be tried and why; several lines.
std::string SummaryText(const SweepStatus& status, const std::string& why);

}  // namespace muster
