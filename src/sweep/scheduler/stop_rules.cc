#include "sweep/scheduler/stop_rules.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <unordered_map>
#include <unordered_set>

#include <boost/multi_index/identity.hpp>
#include <boost/multi_index/ranked_index.hpp>
#include <boost/multi_index_container.hpp>
#include <fmt/format.h>

#include "muster/result.h"
#include "space/group_statistics.h"

namespace muster {

struct Asha::Rung {
  using Result = std::pair<double, std::size_t>;  // loss, sequence number of the report at the rung
  boost::multi_index_container<
      Result, boost::multi_index::indexed_by<boost::multi_index::ranked_unique<boost::multi_index::identity<Result>>>>
      results;
  std::unordered_map<std::uint64_t, Result> by_trial;
  std::size_t reports = 0;
  std::set<std::pair<Result, std::uint64_t>> paused;  // with their trials
  std::unordered_set<std::uint64_t> promoted;         // or continued at once

  std::size_t RankOf(const Result& result) const { return results.rank(results.find(result)) + 1; }
  void Drop(std::uint64_t trial) {
    if (const auto found = by_trial.find(trial); found != by_trial.end()) paused.erase({found->second, trial});
  }
};

namespace {

// By powers, not repeated products, so that 0.1 · 10 is exactly a rung of 1.
std::vector<double> PowersUpTo(double min, double max, double eta) {
  std::vector<double> resources;
  for (int k = 0;; ++k) {
    const double resource = min * std::pow(eta, k);
    if (resource > max * (1 + 1e-12)) return resources;
    resources.push_back(resource);
  }
}

}  // namespace

Asha::Asha(double min, double max, double eta, std::size_t min_results, Form form)
    : Asha(PowersUpTo(min, max, eta), eta, min_results, form) {}

Asha::Asha(std::vector<double> rungs, double eta, std::size_t min_results, Form form)
    : rungs_(std::move(rungs)), eta_(eta), min_results_(min_results), form_(form) {
  for (std::size_t i = 0; i < rungs_.size(); ++i) results_.push_back(std::make_unique<Rung>());
}
Asha::Asha(Asha&&) noexcept = default;
Asha::~Asha() = default;

std::size_t Asha::Share(const Rung& rung) const {
  return static_cast<std::size_t>(std::floor(static_cast<double>(rung.results.size()) / eta_));
}

StopDecision Asha::Report(std::size_t rung, std::uint64_t trial, double loss) {
  Rung& at = *results_[rung];
  at.Drop(trial);
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
  const bool pauses = form_ == Form::kPauses;
  decision.threshold = std::max<std::size_t>(pauses ? 0 : 1, Share(at));
  if (rung + 1 == rungs_.size() || decision.results <= min_results_) decision.threshold = decision.results;
  decision.stop = decision.rank > decision.threshold;
  if (!pauses) return decision;
  if (at.promoted.contains(trial)) decision.stop = false;
  if (!decision.stop) at.promoted.insert(trial);
  decision.paused = decision.stop;
  return decision;
}

void Asha::Paused(std::size_t rung, std::uint64_t trial) {
  Rung& at = *results_[rung];
  const auto found = at.by_trial.find(trial);
  if (found != at.by_trial.end() && !at.promoted.contains(trial)) at.paused.insert({found->second, trial});
}

std::optional<TrialPromoted> Asha::Next() const {
  for (std::size_t rung = rungs_.size(); rung-- > 0;) {
    const Rung& at = *results_[rung];
    if (at.paused.empty()) continue;
    const auto& [result, trial] = *at.paused.begin();
    const std::size_t rank = at.RankOf(result);
    if (rank <= Share(at)) return TrialPromoted{trial, rung, at.results.size(), rank, Share(at)};
  }
  return std::nullopt;
}

bool Asha::HasPromoted(std::size_t rung, std::uint64_t trial) const { return results_[rung]->promoted.contains(trial); }

TrialPromoted Asha::At(std::size_t rung, std::uint64_t trial) const {
  const Rung& at = *results_[rung];
  const auto found = at.by_trial.find(trial);
  const std::size_t rank = found == at.by_trial.end() ? at.results.size() : at.RankOf(found->second);
  return {trial, rung, at.results.size(), rank, Share(at)};
}

void Asha::Promoted(std::size_t rung, std::uint64_t trial) {
  results_[rung]->Drop(trial);
  results_[rung]->promoted.insert(trial);
}

void Asha::Dropped(std::size_t rung, std::uint64_t trial) { results_[rung]->Drop(trial); }

std::vector<HyperbandBracket> HyperbandBrackets(double min, double max, double eta) {
  const std::size_t count = PowersUpTo(min, max, eta).size();  // s_max + 1
  std::vector<HyperbandBracket> brackets;
  for (std::size_t s = count; s-- > 0;) {
    const auto power = [&](std::size_t exponent) { return std::pow(eta, static_cast<double>(exponent)); };
    constexpr double kRounding = 1e-9;
    const double first = std::ceil(static_cast<double>(count) * power(s) / static_cast<double>(s + 1) - kRounding);
    HyperbandBracket bracket;
    for (std::size_t i = 0; i <= s; ++i) {
      bracket.resources.push_back(max / power(s - i));
      bracket.trials.push_back(static_cast<std::uint64_t>(std::floor(first / power(i) + kRounding)));
    }
    brackets.push_back(std::move(bracket));
  }
  return brackets;
}

std::size_t BracketOf(const std::vector<HyperbandBracket>& brackets, std::uint64_t seed, std::uint64_t trial) {
  std::uint64_t all = 0;
  for (const HyperbandBracket& bracket : brackets) all += bracket.trials.front();
  std::uint64_t place = Shuffled(trial % all, all, seed + trial / all);
  std::size_t number = 0;
  for (; place >= brackets[number].trials.front(); ++number) place -= brackets[number].trials.front();
  return number;
}

void MedianRule::Finished(std::uint64_t trial, const std::map<double, double>& losses,
                          std::optional<std::uint64_t> group) {
  std::vector<Until> until;
  double sum = 0;
  for (const auto& [step, loss] : losses) {
    sum += loss;
    until.push_back(
        {step, sum / static_cast<double>(until.size() + 1), until.empty() ? loss : std::min(loss, until.back().best)});
  }
  finished_[{group.has_value(), group.value_or(trial)}][trial] = std::move(until);
}

MedianRule::Decision MedianRule::At(double step, double best_loss, std::optional<std::uint64_t> group) const {
  Decision decision;
  std::vector<double> own = {best_loss};
  std::vector<double> there;
  for (const auto& [name, repetitions] : finished_) {
    const bool is_own = group && name == std::pair(true, *group);
    std::vector<double> means;
    for (const auto& [trial, until] : repetitions) {
      const auto after = std::upper_bound(until.begin(), until.end(), step,
                                          [](double wanted, const Until& entry) { return wanted < entry.step; });
      if (after == until.begin()) continue;
      is_own ? own.push_back(std::prev(after)->best) : means.push_back(std::prev(after)->mean);
    }
    if (!means.empty()) there.push_back(ValueOfGroup(std::move(means), by_median_));
  }
  decision.finished = there.size();
  decision.best = ValueOfGroup(std::move(own), by_median_);
  if (there.size() < min_finished_ || there.empty()) return decision;
  const auto middle = there.begin() + static_cast<std::ptrdiff_t>(there.size() / 2);
  std::nth_element(there.begin(), middle, there.end());
  double median = *middle;
  if (there.size() % 2 == 0) median = (median + *std::max_element(there.begin(), middle)) / 2;
  decision.median = median;
  decision.stop = step >= warmup_ && decision.best > median;
  return decision;
}

StopRules::StopRules(const SweepDescription& sweep, const SweepProgress& progress)
    : objective_(sweep.objective),
      choice_(sweep.early_stop),
      seed_(sweep.sampler.seed),
      by_median_(sweep.sampler.seeds && sweep.sampler.seeds->median),
      grouped_(sweep.sampler.seeds || !progress.groups().empty()),
      groups_(progress.groups()) {
  if (!choice_) return;
  if (!choice_->has_rungs()) {
    median_.emplace(choice_->warmup, choice_->min_finished, by_median_);
    for (const auto& [trial, losses] : progress.finished_losses()) median_->Finished(trial, losses, GroupOf(trial));
    return;
  }
  const Asha::Form form = choice_->promote ? Asha::Form::kPauses : Asha::Form::kStops;
  if (choice_->kind == EarlyStopChoice::Kind::kHyperband) {
    hyperband_ = HyperbandBrackets(choice_->min, choice_->max, choice_->eta);
    rungs_ = hyperband_.front().resources;
    for (const HyperbandBracket& bracket : hyperband_) {
      brackets_.push_back({rungs_.size() - bracket.resources.size(), Asha(bracket.resources, choice_->eta, 0, form)});
    }
  } else {
    brackets_.push_back({0, Asha(choice_->min, choice_->max, choice_->eta, choice_->min_results, form)});
    rungs_ = brackets_.front().asha.rungs();
  }
  const auto is_rung_of = [&](const Bracket& bracket, std::size_t rung) {
    return rung >= bracket.first && rung < rungs_.size();
  };
  for (const RungReport& report : progress.rung_reports()) {
    const std::uint64_t compared = Compared(report.trial);
    Bracket& bracket = Of(compared);
    if (!is_rung_of(bracket, report.rung)) continue;
    ReportAt(bracket, report.rung, report.trial, report.loss);
    if (choice_->promote && !report.stop) bracket.asha.Promoted(report.rung - bracket.first, compared);
  }
  if (!choice_->promote) return;
  for (const TrialPromoted& promoted : progress.promotions()) {
    if (is_rung_of(Of(Compared(promoted.trial)), promoted.rung)) Promoted(promoted);
  }
  for (const auto& [trial, paused] : progress.paused()) {
    if (is_rung_of(Of(Compared(trial)), paused.pause - 1)) Paused(trial, paused.pause - 1);
  }
}

std::size_t StopRules::PlaceOf(std::uint64_t compared) const {
  return hyperband_.empty() ? 0 : BracketOf(hyperband_, seed_, compared);
}

void StopRules::Repeats(TrialNumber trial, std::uint64_t group) {
  if (group < SweepProgress::kNoGroup) groups_[trial] = group;
}

std::optional<std::uint64_t> StopRules::GroupOf(TrialNumber trial) const {
  const auto group = groups_.find(trial);
  return group == groups_.end() ? std::nullopt : std::optional(group->second);
}

std::uint64_t StopRules::Compared(TrialNumber trial) const {
  // Of a sweep whose points were repeated only after an edit, the trials before it are others than all groups.
  return GroupOf(trial).value_or(grouped_ ? SweepProgress::kNoGroup | trial : trial);
}

StopDecision StopRules::ReportAt(Bracket& bracket, std::size_t rung, TrialNumber trial, double loss) {
  const auto group = GroupOf(trial);
  const std::uint64_t compared = Compared(trial);
  if (group) {
    auto& there = repetitions_[{rung, *group}];
    there[trial] = loss;
    std::vector<double> losses;
    for (const auto& [one, its_loss] : there) losses.push_back(its_loss);
    loss = ValueOfGroup(std::move(losses), by_median_);
  }
  StopDecision decision = bracket.asha.Report(rung - bracket.first, compared, loss);
  decision.rung = rung;
  // Its result is another one, so it waits for its turn anew.
  const auto paused = paused_.find({rung, compared});
  if (paused != paused_.end()) paused->second.erase(trial);
  if (paused != paused_.end() && !paused->second.empty()) bracket.asha.Paused(rung - bracket.first, compared);
  return decision;
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
  if (!brackets_.empty()) {
    Bracket& bracket = Of(Compared(trial));
    std::size_t& rung = progress.next_rung_;
    rung = std::max(rung, bracket.first);
    // A trial that reports rarely may pass several rungs at once.
    for (; !outcome.stop && rung < rungs_.size() && resource >= rungs_[rung]; ++rung) {
      const StopDecision decision = ReportAt(bracket, rung, trial, loss);
      outcome.entries.push_back(RungReached{trial, attempt, resource, loss, decision});
      outcome.stop = decision.stop;
      if (decision.stop) {
        outcome.why = fmt::format("{}rung {} of {}{}: rank {} of {}{}, the best {} continue",
                                  decision.paused ? "paused at " : "", rung + 1, rungs_.size(), BracketText(bracket),
                                  decision.rank, decision.results, GroupOf(trial) ? " points" : "", decision.threshold);
      }
    }
  }
  if (median_) {
    const MedianRule::Decision decision = median_->At(resource, *progress.best_, GroupOf(trial));
    outcome.stop = decision.stop;
    if (decision.stop) {
      outcome.entries.push_back(
          MedianStopped{trial, attempt, resource, decision.best, decision.finished, *decision.median});
      outcome.why = fmt::format("at {} {} its best was worse than the median of {} finished {}", choice_->resource,
                                resource, decision.finished, GroupOf(trial) ? "points" : "trials");
    }
  }
  return outcome;
}

std::string StopRules::BracketText(const Bracket& bracket) const {
  if (hyperband_.empty()) return {};
  return fmt::format(" (bracket {} of {})", bracket.first + 1, brackets_.size());
}

void StopRules::Paused(TrialNumber trial, std::size_t rung) {
  const std::uint64_t compared = Compared(trial);
  Bracket& bracket = Of(compared);
  bracket.asha.Paused(rung - bracket.first, compared);
  paused_[{rung, compared}].insert(trial);
}

std::optional<TrialPromoted> StopRules::NextPromotion() const {
  // Its point was promoted while it was on the way to the rung, or with another of its repetitions.
  for (auto one = paused_.rbegin(); grouped_ && one != paused_.rend(); ++one) {
    const auto& [rung, compared] = one->first;
    const Bracket& bracket = brackets_[PlaceOf(compared)];
    const std::size_t own_rung = rung - bracket.first;
    if (one->second.empty() || !GroupOf(*one->second.begin()) || !bracket.asha.HasPromoted(own_rung, compared))
      continue;
    TrialPromoted next = bracket.asha.At(own_rung, compared);
    next.trial = *one->second.begin();
    next.rung = rung;
    return next;
  }
  std::optional<TrialPromoted> best;
  for (const Bracket& bracket : brackets_) {
    auto next = bracket.asha.Next();
    if (!next) continue;
    next->rung += bracket.first;
    if (best && next->rung <= best->rung) continue;
    const auto paused = paused_.find({next->rung, next->trial});
    if (paused == paused_.end() || paused->second.empty()) continue;
    next->trial = *paused->second.begin();
    best = next;
  }
  return best;
}

void StopRules::Promoted(const TrialPromoted& entry) {
  const std::uint64_t compared = Compared(entry.trial);
  Bracket& bracket = Of(compared);
  bracket.asha.Promoted(entry.rung - bracket.first, compared);
  NoLongerPaused(entry);
}

void StopRules::Dropped(const TrialPromoted& entry) {
  const std::uint64_t compared = Compared(entry.trial);
  Bracket& bracket = Of(compared);
  if (NoLongerPaused(entry)) bracket.asha.Dropped(entry.rung - bracket.first, compared);
}

bool StopRules::NoLongerPaused(const TrialPromoted& entry) {
  const auto paused = paused_.find({entry.rung, Compared(entry.trial)});
  if (paused == paused_.end()) return true;
  paused->second.erase(entry.trial);
  if (!paused->second.empty()) return false;
  paused_.erase(paused);
  return true;
}

void StopRules::Finished(TrialNumber trial, const TrialProgress& progress) {
  if (median_ && !progress.losses_.empty()) median_->Finished(trial, progress.losses_, GroupOf(trial));
}

}  // namespace muster
