#include "sweep/record/finished_trials.h"

#include <utility>

#include "sweep/record/trial_result.h"

namespace muster {

void FinishedTrials::Add(const AttemptEnded& entry, OpenTrial trial) {
  const bool well = entry.trial_class == TrialClass::kOk;
  if (well && entry.loss && (!best_ || *entry.loss < best_->loss)) {
    best_ = {entry.trial, entry.attempt, *entry.loss, std::move(trial.id), std::move(trial.point)};
  }
  if (well && !entry.losses.empty()) losses_[entry.trial] = entry.losses;
  const TrialClass kept = trial.kept ? KeptClass(entry.trial_class, *trial.kept) : entry.trial_class;
  ends_.Set(entry.trial, {kept, trial.attempts});
  ++counts_[static_cast<std::size_t>(kept)];
  numbers_.Add(entry.trial);
}

void FinishedTrials::Remove(TrialRange range, const std::function<void(TrialNumber, TrialEnds::End)>& reopened) {
  ends_.Remove(range, [&](TrialNumber trial, TrialEnds::End end) {
    --counts_[static_cast<std::size_t>(end.trial_class)];
    numbers_.Remove(trial);
    reopened(trial, end);
  });
}

std::uint64_t FinishedTrials::failed() const {
  std::uint64_t failed = 0;
  for (std::size_t i = 0; i < counts_.size(); ++i) failed += IsFailure(static_cast<TrialClass>(i)) ? counts_[i] : 0;
  return failed;
}

}  // namespace muster
