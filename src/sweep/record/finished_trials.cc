#include "sweep/record/finished_trials.h"

#include <utility>

namespace muster {

void FinishedTrials::Add(const AttemptEnded& entry, OpenTrial trial) {
  const bool well = entry.trial_class == TrialClass::kOk;
  if (well && entry.loss && (!best_ || *entry.loss < best_->loss)) {
    best_ = {entry.trial, entry.attempt, *entry.loss, std::move(trial.id), std::move(trial.point)};
  }
  if (well && !entry.losses.empty()) losses_[entry.trial] = entry.losses;
  ends_.Set(entry.trial, {entry.trial_class, trial.attempts});
  ++counts_[static_cast<std::size_t>(entry.trial_class)];
  numbers_.Add(entry.trial);
}

void FinishedTrials::Remove(TrialRange range,
                            const std::function<void(TrialNumber, std::uint32_t attempts)>& reopened) {
  ends_.Remove(range, [&](TrialNumber trial, TrialEnds::End end) {
    --counts_[static_cast<std::size_t>(end.trial_class)];
    numbers_.Remove(trial);
    reopened(trial, end.attempts);
  });
}

std::uint64_t FinishedTrials::failed() const {
  std::uint64_t failed = 0;
  for (std::size_t i = 0; i < counts_.size(); ++i) failed += IsFailure(static_cast<TrialClass>(i)) ? counts_[i] : 0;
  return failed;
}

}  // namespace muster
