// Resolves SWEEP:12, SWEEP:3f9a and SWEEP:best to a trial of a sweep, and SWEEP:12.0 to an attempt.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "muster/result.h"
#include "sweep/index/sweep_view.h"

namespace muster {

// ("SWEEP", "12") of "SWEEP:12", split at the last colon; nothing without one, or if nothing follows it.
std::optional<std::pair<std::string, std::string>> SweepAndTrial(std::string_view word);

struct ChosenTrial {
  TrialNumber trial = 0;
  // Omitted: the one that the trial keeps (sweep/record/trial_result.h), and its latest one as long as it is not over.
  std::optional<std::uint32_t> attempt;
};

// "best", a number, or a prefix of an id (at least 4 characters, of a trial that has begun), with ".N" for an attempt.
// With a number, the trial need not have begun. Kind "trial": no trial matches, or more than one.
Result<ChosenTrial> ChooseTrial(const SweepView& view, std::string_view word);

// The run directory of that attempt. Kind "trial" if the trial has none, with the reason.
Result<std::string> RunDirectoryOf(const SweepView& view, const std::string& sweep_dir, const ChosenTrial& chosen);

// The attempt of a trial that a run directory belongs to.
struct TrialOfRun {
  std::string name;  // "lr:12", or "lr:12.2" for its second attempt
  std::string sweep_dir;
  std::string objective;  // the metric; may be empty
};
// Nothing if the directory is not that of a trial in its sweep's directory.
std::optional<TrialOfRun> FindTrialOfRun(const std::string& run_dir);

}  // namespace muster
