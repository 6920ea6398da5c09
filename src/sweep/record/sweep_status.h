// The status of a sweep as text: what its head shows while it runs and at the end, and why points are impossible.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "space/sweep_description.h"
#include "sweep/record/sweep_events.h"
#include "sweep/record/sweep_progress.h"

namespace muster {

// Why the points of a sweep are impossible, if no possible one has been found: the first few different reasons, for the
// summary of a sweep without trials.
class ImpossibleReasons {
 public:
  void Keep(const PointsJudged& judged);
  // "no point is possible: …": one line; without reasons if none was stored, as in a resumed sweep.
  std::string Text() const;

 private:
  std::vector<std::string> reasons_;  // in the order of the points
};

// "3.2 of 4 device hours spent, about 3.9 at the end"; empty if they are not limited.
std::string DeviceHoursText(const DeviceHours& hours);

// "no gain above the noise is expected: after 40 results the regret is at most 0.0012, the noise 0.0031".
std::string NoGainText(const NoGainExpected& expected);

// The status of a sweep as text: what its head shows while it runs, and at the end. Texts are safe for a terminal; this
// file prints nothing.

struct SweepStatus {
  const SweepProgress* progress = nullptr;
  const SweepDescription* sweep = nullptr;
  std::size_t running = 0;
  std::size_t waiting = 0;  // trials that wait for devices or hosts
  const char* awaited = "devices";
  std::uint32_t devices_in_use = 0;
  std::uint32_t devices = 0;        // of all hosts, each counted as often as trials may share it
  double seconds = 0;               // since this head started
  std::uint64_t over_at_begin = 0;  // trials that were over at that time
};

// The estimated remaining time in seconds, at the rate of this head; nothing before a trial was over.
std::optional<double> Forecast(const SweepStatus& status);

// "212 of 1000 trials over: 198 ok, 10 stopped, 4 failed", then the running trials, the best result so far, and the
// forecast: at most `most` rows, each narrower than `columns`.
std::vector<std::string> StatusRows(const SweepStatus& status, std::size_t columns, std::size_t most);

// "trial 12 ok in 3.2 s: loss 0.31 (lr=0.1, workers=4)", without a newline. With the objective's value, not the loss.
std::string AttemptLine(const SweepDescription& sweep, const Point& point, const AttemptEnded& ended);

// The line about an entry, without a newline; empty for entries that are not shown. `progress`: before the entry.
std::string EntryLine(const SweepDescription& sweep, const SweepProgress& progress, const SweepEntry& entry);

// The summary at the end: counts, the best trial, the failures by class, impossible trials with reasons; several lines.
std::string SummaryText(const SweepStatus& status, const std::string& why);

}  // namespace muster
