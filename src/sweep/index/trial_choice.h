// Which trial of a sweep is meant by SWEEP:12, SWEEP:3f9a, SWEEP:best, and which attempt by SWEEP:12.0.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "muster/result.h"
#include "sweep/index/sweep_view.h"

namespace muster {

// ("SWEEP", "12") of "SWEEP:12", split at the last colon; nothing without one, or if there is nothing behind it.
std::optional<std::pair<std::string, std::string>> SweepAndTrial(std::string_view word);

struct ChosenTrial {
  TrialNumber trial = 0;
  std::optional<std::uint32_t> attempt;  // left out: the last one
};

// "best", a number, or a prefix of an id (at least 4 characters, of a trial that has begun), with ".N" for an attempt.
// A number need not have begun. Kind "trial": there is none, or more than one.
Result<ChosenTrial> ChooseTrial(const SweepView& view, std::string_view word);

// The run directory of that attempt. Kind "trial" if the trial has none, and why.
Result<std::string> RunDirectoryOf(const SweepView& view, const std::string& sweep_dir, const ChosenTrial& chosen);

}  // namespace muster
