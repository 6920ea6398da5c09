#include "sweep/scheduler/stop_rules.h"

#include <algorithm>
#include <cmath>
#include <unordered_map>

#include <boost/multi_index/identity.hpp>
#include <boost/multi_index/ranked_index.hpp>
#include <boost/multi_index_container.hpp>
#include <fmt/format.h>

#include "muster/result.h"

namespace muster {

struct Asha::Rung {
  using Result = std::pair<double, std::size_t>;  // loss, sequence number of the report at the rung
  boost::multi_index_container<
      Result, boost::multi_index::indexed_by<boost::multi_index::ranked_unique<boost::multi_index::identity<Result>>>>
      results;
  std::unordered_map<std::uint64_t, Result> by_trial;
  std::size_t reports = 0;
};

Asha::Asha(double min, double max, double eta, std::size_t min_results) : eta_(eta), min_results_(min_results) {
  // By powers, not repeated products, so that 0.1 · 10 is exactly a rung of 1.
  for (int k = 0;; ++k) {
    const double resource = min * std::pow(eta, k);
    if (resource > max * (1 + 1e-12)) break;
    rungs_.push_back(resource);
    results_.push_back(std::make_unique<Rung>());
  }
}
Asha::Asha(Asha&&) noexcept = default;
Asha::~Asha() = default;

StopDecision Asha::Report(std::size_t rung, std::uint64_t trial, double loss) {
  Rung& at = *results_[rung];
  auto& results = at.results;
  const Rung::Result result{loss, at.reports++};
  const auto [of_trial, is_first] = at.by_trial.emplace(trial, result);
  if (!is_first) {
    results.erase(of_trial->second);
    of_trial->second = result;
  }
  const auto place = results.insert(result).first;
  StopDecision decision;
  decision.rung = rung;
  decision.results = results.size();
  decision.rank = results.rank(place) + 1;
  const auto share = static_cast<std::size_t>(std::floor(static_cast<double>(decision.results) / eta_));
  decision.threshold = std::max<std::size_t>(1, share);
  if (rung + 1 == rungs_.size() || decision.results <= min_results_) decision.threshold = decision.results;
  decision.stop = decision.rank > decision.threshold;
  return decision;
}

void MedianRule::Finished(std::uint64_t trial, const std::map<double, double>& losses) {
  std::vector<std::pair<double, double>> means;
  double sum = 0;
  for (const auto& [step, loss] : losses) {
    sum += loss;
    means.emplace_back(step, sum / static_cast<double>(means.size() + 1));
  }
  means_[trial] = std::move(means);
}

MedianRule::Decision MedianRule::At(double step, double best_loss) const {
  Decision decision;
  std::vector<double> there;
  for (const auto& [trial, means] : means_) {
    const auto after = std::upper_bound(means.begin(), means.end(), step,
                                        [](double wanted, const auto& entry) { return wanted < entry.first; });
    if (after != means.begin()) there.push_back(std::prev(after)->second);
  }
  decision.finished = there.size();
  if (there.size() < min_finished_ || there.empty()) return decision;
  const auto middle = there.begin() + static_cast<std::ptrdiff_t>(there.size() / 2);
  std::nth_element(there.begin(), middle, there.end());
  double median = *middle;
  if (there.size() % 2 == 0) median = (median + *std::max_element(there.begin(), middle)) / 2;
  decision.median = median;
  decision.stop = step >= warmup_ && best_loss > median;
  return decision;
}

StopRules::StopRules(const SweepDescription& sweep, const SweepProgress& progress)
    : objective_(sweep.objective), choice_(sweep.early_stop) {
  if (!choice_) return;
  if (choice_->kind == EarlyStopChoice::Kind::kAsha) {
    asha_.emplace(choice_->min, choice_->max, choice_->eta, choice_->min_results);
    for (const RungReport& report : progress.rung_reports()) {
      if (report.rung < asha_->rungs().size()) asha_->Report(report.rung, report.trial, report.loss);
    }
  } else {
    median_.emplace(choice_->warmup, choice_->min_finished);
    for (const auto& [trial, losses] : progress.finished_losses()) median_->Finished(trial, losses);
  }
}

bool StopRules::Note(TrialProgress& progress, const MetricValues& report) const {
  for (const auto& [metric, value] : report) progress.metrics_[metric] = value;
  if (!objective_) return true;
  const auto number = [&](const std::string& metric) -> std::optional<double> {
    const auto found = report.find(metric);
    return found != report.end() ? FiniteNumber(found->second) : std::nullopt;
  };
  if (choice_) {
    if (const auto resource = number(choice_->resource)) progress.resource_ = resource;
  }
  if (!report.contains(objective_->metric)) return true;
  const auto value = number(objective_->metric);
  if (!value) return false;
  const double loss = objective_->maximize ? -*value : *value;
  progress.loss_ = loss;
  progress.best_ = std::min(loss, progress.best_.value_or(loss));
  if (median_ && progress.resource_) progress.losses_[*progress.resource_] = loss;
  return true;
}

void StopRules::Recall(TrialProgress& progress, const MetricValues& report) const { Note(progress, report); }

StopRules::Outcome StopRules::Take(TrialNumber trial, std::uint32_t attempt, TrialProgress& progress,
                                   const MetricValues& report) {
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
