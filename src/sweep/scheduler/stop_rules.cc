#include "sweep/scheduler/stop_rules.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

namespace muster {

StopRules::StopRules(const SweepDescription& sweep, const SweepProgress& account)
    : objective_(sweep.objective), choice_(sweep.early_stop) {
  if (!choice_) return;
  if (choice_->kind == EarlyStopChoice::Kind::kAsha) {
    asha_.emplace(choice_->min, choice_->max, choice_->eta, choice_->min_results);
    for (const RungReport& report : account.rung_reports()) {
      if (report.rung < asha_->rungs().size()) asha_->Report(report.rung, report.trial, report.loss);
    }
  } else {
    median_.emplace(choice_->warmup, choice_->min_finished);
    for (const auto& [trial, losses] : account.finished_losses()) median_->Finished(trial, losses);
  }
}

bool StopRules::Note(TrialProgress& progress, const MetricReport& report) const {
  for (const auto& [metric, value] : report) progress.metrics_[metric] = value;
  if (!objective_) return true;
  const auto number = [&](const std::string& metric) -> std::optional<double> {
    const auto found = report.find(metric);
    return found != report.end() && found->second.IsNumber() ? std::optional(found->second.Number()) : std::nullopt;
  };
  if (choice_) {
    if (const auto resource = number(choice_->resource); resource && std::isfinite(*resource)) {
      progress.resource_ = resource;
    }
  }
  if (!report.contains(objective_->metric)) return true;
  const auto value = number(objective_->metric);
  if (!value || !std::isfinite(*value)) return false;
  const double loss = objective_->maximize ? -*value : *value;
  progress.loss_ = loss;
  progress.best_ = std::min(loss, progress.best_.value_or(loss));
  if (median_ && progress.resource_) progress.losses_[*progress.resource_] = loss;
  return true;
}

void StopRules::Recall(TrialProgress& progress, const MetricReport& report) const { Note(progress, report); }

StopRules::Outcome StopRules::Take(TrialNumber trial, std::uint32_t attempt, TrialProgress& progress,
                                   const MetricReport& report) {
  Outcome outcome;
  if (!Note(progress, report)) {
    progress.diverged_ = true;
    outcome.stop = true;
    outcome.why = objective_->metric + " is not a finite number";
    return outcome;
  }
  if (!objective_ || !report.contains(objective_->metric)) return outcome;
  const double loss = *progress.loss_;
  if (!progress.resource_) return outcome;
  const double resource = *progress.resource_;
  if (asha_) {
    const std::vector<double>& rungs = asha_->rungs();
    // A trial that reports rarely may pass several rungs at once.
    for (std::size_t& rung = progress.next_rung_; !outcome.stop && rung < rungs.size() && resource >= rungs[rung];
         ++rung) {
      const StopDecision decision = asha_->Report(rung, trial, loss);
      outcome.entries.push_back(RungReached{trial, attempt, resource, loss, decision});
      outcome.stop = decision.stop;
      if (decision.stop) {
        outcome.why = fmt::format("rung {} of {}: rank {} of {}, the best {} continue", rung + 1, rungs.size(),
                                  decision.rank, decision.results, decision.threshold);
      }
    }
  }
  if (median_) {
    const MedianRule::Decision decision = median_->At(resource, *progress.best_);
    outcome.stop = decision.stop;
    if (decision.stop) {
      outcome.entries.push_back(
          MedianStopped{trial, attempt, resource, *progress.best_, decision.finished, *decision.median});
      outcome.why = fmt::format("at {} {} its best was worse than the median of {} finished trials", choice_->resource,
                                resource, decision.finished);
    }
  }
  return outcome;
}

void StopRules::Finished(TrialNumber trial, const TrialProgress& progress) {
  if (median_ && !progress.losses_.empty()) median_->Finished(trial, progress.losses_);
}

}  // namespace muster
