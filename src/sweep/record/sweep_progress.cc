#include "sweep/record/sweep_progress.h"

#include <algorithm>
#include <utility>
#include <variant>

#include "base/values/overloaded.h"

namespace muster {

void SweepProgress::Take(const SweepEntry& entry) {
  std::visit(Overloaded{[this](const SweepBegan& e) {
                          sweep_id_ = e.sweep_id;
                          name_ = e.name;
                          recipe_ = e.recipe;
                          ended_.reset();
                          open_.HeadBegan(e);
                        },
                        [this](const PointsJudged& e) { open_.Judged(e, over()); },
                        [this](const AttemptBegan& e) { open_.Began(e, over()); },
                        [this](const RungReached& e) {
                          rung_reports_.push_back({e.decision.rung, e.trial, e.loss});
                          open_.Reached(e);
                        },
                        [](const MedianStopped&) {},
                        [this](const AttemptEnded& e) {
                          if (auto trial = open_.Ended(e)) finished_.Add(e, *std::move(trial));
                        },
                        [this](const HostQuarantined& e) { quarantined_.insert(e.host); },
                        [this](const TrialsReopened& e) {
                          for (const TrialRange& range : e.trials) {
                            finished_.Remove(range, [this](TrialNumber trial, TrialEnds::End end) {
                              open_.Reopened(trial, end.attempts, end.trial_class);
                            });
                          }
                        },
                        [this](const SweepSteered& e) {
                          if (e.trials) open_.Extended(*e.trials);
                          if (e.trials) steered_.trials = e.trials;
                          if (e.max_trials) steered_.max_trials = e.max_trials;
                          if (e.slots) steered_.slots = e.slots;
                        },
                        [this](const SweepEnded& e) { ended_ = e; }},
             entry);
}

TrialCounts CountsOf(const SweepProgress& account, bool live) {
  TrialCounts counts;
  counts.over = account.over().size();
  counts.failed = account.failed();
  counts.impossible = account.impossible().size();
  for (const auto& [trial, open] : account.open()) counts.running += live && open.running ? 1 : 0;
  counts.possible = account.trials() - std::min<std::uint64_t>(account.trials(), counts.impossible);
  counts.waiting = counts.possible - std::min(counts.possible, counts.over + counts.running);
  return counts;
}

std::optional<std::uint64_t> MostTrials(const SweepProgress& account, const BudgetChoice& budget) {
  if (!budget.trials) return std::nullopt;
  return std::max(*budget.trials, account.steered().max_trials.value_or(0));
}

std::string SweepState(const SweepProgress& account, bool live) {
  if (live) return "running";
  if (!account.ended()) return "lost";
  return account.ended()->complete ? "complete" : "stopped";
}

}  // namespace muster
