#include "sweep/record/sweep_progress.h"

#include <algorithm>
#include <iterator>
#include <utility>
#include <variant>

#include "base/values/overloaded.h"

namespace muster {
namespace {

// Possible trials that have not begun: a head judges a few hundred at a time, and the next ones when these have begun.
constexpr std::size_t kMostWaiting = 1U << 18;

}  // namespace

// --- SweepProgress -----------------------------------------------------------------------------------

void SweepProgress::Taken(const SweepBegan& entry) {
  sweep_id_ = entry.sweep_id;
  name_ = entry.name;
  recipe_ = entry.recipe;
  trials_ = entry.trials;
  ended_.reset();
  // After a change of the recipe the sampler may have fewer trials.
  if (trials_ > 0) open_.erase(open_.lower_bound(trials_), open_.end());
  if (!entry.accepted) return;
  for (auto& [trial, open] : open_) open.plan.clear();
}

void SweepProgress::Judged(const PointsJudged& entry) {
  TrialNumber end = entry.first + std::min<std::uint64_t>(entry.count, kMostWaiting);
  if (end < entry.first || !IsTrial(entry.first)) return;
  if (trials_ > 0) end = std::min<TrialNumber>(end, trials_);
  TrialSet impossible;
  for (const PointsJudged::Reason& reason : entry.impossible) {
    for (const auto& [first, last] : reason.trials) {
      if (first >= entry.first && last < end) impossible.Add(TrialRange{first, last});
    }
  }
  TrialNumber next = entry.first;
  const auto possible = [&](TrialNumber to) {
    for (; next < to && open_.size() < kMostWaiting; ++next) {
      if (!over_.Has(next)) open_.try_emplace(open_.end(), next);
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

void SweepProgress::Began(const AttemptBegan& entry) {
  if (over_.Has(entry.trial) || !IsTrial(entry.trial)) return;
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
  if (const auto id = PointNumber(entry.id)) ids_.insert(*id);
}

void SweepProgress::Ended(const AttemptEnded& entry) {
  const auto found = open_.find(entry.trial);
  if (found == open_.end() || !found->second.running || found->second.attempts != entry.attempt + 1) return;
  OpenTrial& trial = found->second;
  trial.running = false;
  trial_ms_ += entry.ms;
  if (entry.again || entry.interrupted) {
    if (!entry.interrupted) ++(entry.counted ? trial.counted : trial.free);
    // A checkpoint written before the loss diverged would diverge again.
    if (entry.trial_class == TrialClass::kDiverged) trial.first = trial.attempts;
    return;
  }
  const bool well = entry.trial_class == TrialClass::kOk;
  if (well && entry.loss && (!best_ || *entry.loss < best_->loss)) {
    best_ = {entry.trial, entry.attempt, *entry.loss, std::move(trial.id), std::move(trial.point)};
  }
  if (well && !entry.losses.empty()) finished_losses_[entry.trial] = entry.losses;
  ends_.Set(entry.trial, {entry.trial_class, trial.attempts});
  ++counts_[static_cast<std::size_t>(entry.trial_class)];
  over_.Add(entry.trial);
  open_.erase(found);
}

void SweepProgress::Reopened(const TrialsReopened& entry) {
  for (const TrialRange& range : entry.trials) {
    ends_.Remove(range, [this](TrialNumber trial, TrialEnds::End end) {
      --counts_[static_cast<std::size_t>(end.trial_class)];
      over_.Remove(trial);
      OpenTrial& open = open_[trial];
      open.attempts = open.first = end.attempts;
    });
  }
}

std::uint64_t SweepProgress::failed() const {
  std::uint64_t failed = 0;
  for (std::size_t i = 0; i < counts_.size(); ++i) failed += IsFailure(static_cast<TrialClass>(i)) ? counts_[i] : 0;
  return failed;
}

void SweepProgress::Take(const SweepEntry& entry) {
  std::visit(Overloaded{[this](const SweepBegan& e) { Taken(e); }, [this](const PointsJudged& e) { Judged(e); },
                        [this](const AttemptBegan& e) { Began(e); },
                        [this](const RungReached& e) {
                          rung_reports_.push_back({e.decision.rung, e.trial, e.loss});
                          const auto open = open_.find(e.trial);
                          if (open != open_.end() && !e.decision.stop) {
                            open->second.rungs = std::max<std::uint64_t>(open->second.rungs, e.decision.rung + 1);
                          }
                        },
                        [](const MedianStopped&) {}, [this](const AttemptEnded& e) { Ended(e); },
                        [this](const HostQuarantined& e) { quarantined_.insert(e.host); },
                        [this](const TrialsReopened& e) { Reopened(e); }, [this](const SweepEnded& e) { ended_ = e; }},
             entry);
}

std::string SweepState(const SweepProgress& account, bool live) {
  if (live) return "running";
  if (!account.ended()) return "lost";
  return account.ended()->complete ? "complete" : "left";
}

}  // namespace muster
