// The device time that a sweep may use: what its trials take, by those so far, and whether another one is worth
// starting. Pure.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "space/sweep_description.h"
#include "sweep/record/sweep_events.h"

namespace muster {

// Time × devices that a trial holds (those of src/run/report/ledger.h); of a trial without devices its time. In ms.
class DeviceBudget {
 public:
  // `sweep` must outlive it.
  explicit DeviceBudget(const SweepDescription& sweep) : sweep_(&sweep) {}

  // The entries of the journal in their order, those of earlier heads as well.
  void Take(const SweepEntry& entry);

  struct Running {
    double device_ms = 0;                 // so far
    std::optional<double> resource = {};  // that it reached; nothing for one that continues from a checkpoint
  };

  // What one trial is expected to take, by the medians of the latest 1,000 that ended: until its end, and until the
  // first rung, by the time that a step takes (of those that run, too). Nothing as long as it is not known.
  std::optional<double> OfTrial(const std::vector<Running>& running) const;
  std::optional<double> ToFirstRung(const std::vector<Running>& running) const;

  // Why no trial is to start, which would not reach its first rung, or without rungs its end, within what is left
  // besides what the running ones are expected to take: "…"; empty if one may start. `spent`: by attempts that ended.
  std::string Refusal(double hours, double spent, const std::vector<Running>& running) const;

 private:
  struct Started {
    std::uint32_t devices = 0;
    bool resumed = false;
  };
  std::optional<double> StepTime(const std::vector<Running>& running) const;

  const SweepDescription* sweep_;
  std::map<TrialNumber, Started> started_;
  std::map<TrialNumber, double> spent_;  // by the attempts so far of trials that are not over
  std::deque<double> with_result_;       // by trials
  std::deque<double> without_;
  std::deque<double> step_times_;  // by attempts
};

}  // namespace muster
