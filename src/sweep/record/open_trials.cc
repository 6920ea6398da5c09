#include "sweep/record/open_trials.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "space/space.h"

namespace muster {
namespace {

// Possible trials that have not begun: a head judges a few hundred at a time, and the next ones when these have begun.
constexpr std::size_t kMostWaiting = 1U << 18;

}  // namespace

void OpenTrials::HeadBegan(const SweepBegan& entry) {
  sampled_ = entry.trials;
  // After a change of the recipe the sampler may have fewer trials.
  if (sampled_ > 0) open_.erase(open_.lower_bound(sampled_), open_.end());
  if (!entry.accepted) return;
  for (auto& [trial, open] : open_) open.plan.clear();
}

void OpenTrials::Judged(const PointsJudged& entry, const TrialSet& over) {
  TrialNumber end = entry.first + std::min<std::uint64_t>(entry.count, kMostWaiting);
  if (end < entry.first || !IsTrial(entry.first)) return;
  if (sampled_ > 0) end = std::min<TrialNumber>(end, sampled_);
  TrialSet impossible;
  for (const PointsJudged::Reason& reason : entry.impossible) {
    for (const auto& [first, last] : reason.trials) {
      if (first >= entry.first && last < end) impossible.Add(TrialRange{first, last});
    }
  }
  TrialNumber next = entry.first;
  const auto possible = [&](TrialNumber to) {
    for (; next < to && open_.size() < kMostWaiting; ++next) {
      if (!over.Has(next)) open_.try_emplace(open_.end(), next);
    }
  };
  for (const auto& [first, last] : impossible.ranges()) {
    impossible_.Add(TrialRange{first, last});
    // Planned completely, or after a change of the recipe, a trial judged possible may turn out to be impossible.
    for (auto open = open_.lower_bound(first); open != open_.end() && open->first <= last;) {
      open = open->second.running ? std::next(open) : open_.erase(open);
    }
    possible(first);
    next = last + 1;
  }
  possible(end);
  judged_to_ = std::max(judged_to_, end);
}

void OpenTrials::Began(const AttemptBegan& entry, const TrialSet& over) {
  if (over.Has(entry.trial) || !IsTrial(entry.trial)) return;
  OpenTrial& trial = open_[entry.trial];
  if (trial.attempts == 0) ++begun_;
  ++attempts_;
  trial.attempts = std::max(trial.attempts, entry.attempt + 1);
  trial.id = entry.id;
  if (trial.plan.empty()) trial.plan = entry.plan;
  trial.point = entry.point;
  trial.running = true;
  trial.run_id = entry.run_id;
  trial.hosts = entry.hosts;
  trial.resumed = entry.resumed;
  if (entry.resumed.checkpoint.empty()) {
    trial.first = entry.attempt;
    trial.rungs = 0;
  }
  if (const auto id = PointNumber(entry.id)) points_.insert(*id);
}

void OpenTrials::Reached(const RungReached& entry) {
  const auto open = open_.find(entry.trial);
  if (open == open_.end() || entry.decision.stop) return;
  open->second.rungs = std::max<std::uint64_t>(open->second.rungs, entry.decision.rung + 1);
}

std::optional<OpenTrial> OpenTrials::Ended(const AttemptEnded& entry) {
  const auto found = open_.find(entry.trial);
  if (found == open_.end() || !found->second.running || found->second.attempts != entry.attempt + 1) {
    return std::nullopt;
  }
  OpenTrial& trial = found->second;
  trial.running = false;
  ms_ += entry.ms;
  if (!entry.again && !entry.interrupted) return std::move(open_.extract(found).mapped());
  if (!entry.interrupted) ++(entry.counted ? trial.counted : trial.free);
  // A checkpoint written before the loss diverged would diverge again.
  if (entry.trial_class == TrialClass::kDiverged) trial.first = trial.attempts;
  return std::nullopt;
}

void OpenTrials::Reopened(TrialNumber trial, std::uint32_t attempts, TrialClass kept) {
  OpenTrial& open = open_[trial];
  open.attempts = open.first = attempts;
  open.kept = kept;
}

}  // namespace muster
