#include "sweep/scheduler/what_if.h"

#include <algorithm>
#include <map>
#include <queue>
#include <set>
#include <tuple>
#include <utility>

#include "space/group_statistics.h"
#include "sweep/record/sweep_progress.h"
#include "sweep/scheduler/stop_rules.h"

namespace muster {
namespace {

// A report of a running trial, or its end: behind the last report.
struct ReplayedMoment {
  double ms = 0;
  std::size_t trial = 0;  // in the order of their begin
  std::size_t report = 0;

  bool operator>(const ReplayedMoment& other) const {
    return std::tie(ms, trial, report) > std::tie(other.ms, other.trial, other.report);
  }
};

class Replay {
 public:
  // Without `rules` nothing is stopped.
  Replay(const SweepDescription& sweep, const std::vector<RecordedTrial>& trials, StopRules* rules)
      : sweep_(sweep), trials_(trials), rules_(rules), progress_(trials.size()), began_(trials.size(), 0.0) {
    for (const RecordedTrial& trial : trials) made_.trials.push_back({.trial = trial.trial});
  }

  WhatIf Run(std::size_t slots) {
    for (std::size_t i = 0; i < std::max<std::size_t>(slots, 1); ++i) StartNext(0);
    while (!moments_.empty()) {
      const ReplayedMoment now = moments_.top();
      moments_.pop();
      const RecordedTrial& trial = trials_[now.trial];
      if (now.report == trial.reports.size()) {
        End(now);
      } else if (IsStoppedAt(now)) {
        StartNext(now.ms);
      } else {
        Await(now.trial, now.report + 1);
      }
    }
    ChooseBestPoint();
    return std::move(made_);
  }

 private:
  void StartNext(double ms) {
    made_.ms = std::max(made_.ms, ms);
    for (; next_ < trials_.size() && IsLeftOut(trials_[next_]); ++next_) {
      made_.trials[next_].left_out = true;
      ++made_.left_out;
    }
    if (next_ == trials_.size()) return;
    if (rules_ != nullptr && trials_[next_].group) rules_->Repeats(trials_[next_].trial, *trials_[next_].group);
    began_[next_] = ms;
    Await(next_++, 0);
  }

  // As the sampler does (space/repeated_sampler.cc).
  bool IsLeftOut(const RecordedTrial& trial) const { return trial.group && stopped_.contains(*trial.group); }

  void ChooseBestPoint() {
    std::optional<double> least;
    for (const auto& [group, results] : results_) {
      if (!sweep_.sampler.seeds || results.size() < sweep_.sampler.seeds->count) continue;
      std::vector<double> losses;
      for (const auto& [loss, trial] : results) losses.push_back(loss);
      const double loss = ValueOfGroup(std::move(losses), sweep_.sampler.seeds->median);
      if (least && loss >= *least) continue;
      least = loss;
      made_.best = results.begin()->second;
    }
  }

  void Await(std::size_t trial, std::size_t report) {
    const RecordedTrial& recorded = trials_[trial];
    const double after = report < recorded.reports.size() ? recorded.reports[report].ms : recorded.ms;
    moments_.push({began_[trial] + after, trial, report});
  }

  bool IsStoppedAt(const ReplayedMoment& now) {
    const RecordedTrial& trial = trials_[now.trial];
    const RecordedTrial::Report& report = trial.reports[now.report];
    if (rules_ == nullptr) return false;
    const MetricValues values = {{sweep_.objective->metric, Value(ObjectiveValue(sweep_.objective, report.loss))},
                                 {sweep_.early_stop->resource, Value(report.resource)}};
    const StopRules::Outcome outcome = rules_->Take(trial.trial, 0, progress_[now.trial], values);
    if (!outcome.stop) return false;
    WhatIfTrial& ended = made_.trials[now.trial];
    ended.stopped = true;
    ended.why = outcome.why;
    ++made_.stopped;
    if (trial.group && !sweep_.early_stop->promote) stopped_.insert(*trial.group);
    Count(now.trial, report.resource, now.ms - began_[now.trial]);
    return true;
  }

  void End(const ReplayedMoment& now) {
    const RecordedTrial& trial = trials_[now.trial];
    const double reached = trial.reports.empty() ? 0 : trial.reports.back().resource;
    Count(now.trial, reached, trial.ms);
    if (trial.trial_class == TrialClass::kOk) {
      if (rules_ != nullptr) rules_->Finished(trial.trial, progress_[now.trial]);
    } else {
      made_.trials[now.trial].unknown_beyond = true;
      ++made_.unknown;
    }
    if (trial.trial_class == TrialClass::kOk && trial.loss && trial.group) {
      results_[*trial.group].emplace(*trial.loss, trial.trial);
    } else if (trial.trial_class == TrialClass::kOk && trial.loss && (!made_.best || *trial.loss < best_loss_)) {
      made_.best = trial.trial;
      best_loss_ = *trial.loss;
    }
    StartNext(now.ms);
  }

  void Count(std::size_t trial, double resource, double ms) {
    made_.trials[trial].resource = resource;
    made_.trials[trial].ms = ms;
    made_.resource += resource;
    const bool by_devices =
        std::any_of(trials_.begin(), trials_.end(), [](const RecordedTrial& one) { return one.devices > 0; });
    made_.device_ms += ms * (by_devices ? trials_[trial].devices : 1);
  }

  const SweepDescription& sweep_;
  const std::vector<RecordedTrial>& trials_;
  StopRules* rules_;
  std::vector<TrialProgress> progress_;
  std::vector<double> began_;
  std::priority_queue<ReplayedMoment, std::vector<ReplayedMoment>, std::greater<>> moments_;
  std::size_t next_ = 0;
  double best_loss_ = 0;
  std::set<std::uint64_t> stopped_;                                            // groups that have no result
  std::map<std::uint64_t, std::set<std::pair<double, TrialNumber>>> results_;  // by group
  WhatIf made_;
};

}  // namespace

WhatIf ReplayWithRule(const SweepDescription& sweep, const std::vector<RecordedTrial>& trials, std::size_t slots) {
  const WhatIf before = Replay(sweep, trials, nullptr).Run(slots);
  StopRules rules(sweep, SweepProgress());
  WhatIf made = Replay(sweep, trials, &rules).Run(slots);
  made.resource_before = before.resource;
  made.device_ms_before = before.device_ms;
  made.ms_before = before.ms;
  made.best_before = before.best;
  return made;
}

}  // namespace muster
