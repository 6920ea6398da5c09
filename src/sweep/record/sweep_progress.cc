#include "sweep/record/sweep_progress.h"

#include <cmath>
#include <iterator>
#include <tuple>
#include <utility>
#include <variant>

#include "base/values/overloaded.h"
#include "base/values/value_text.h"
#include "space/group_statistics.h"
#include "space/space.h"

namespace muster {

// --- TrialSet ---------------------------------------------------------------------------------------

void TrialSet::Add(TrialNumber trial) { Add(TrialRange{trial, trial}); }

void TrialSet::Add(TrialRange range) {
  auto [first, last] = range;
  if (last < first) return;
  auto next = ranges_.upper_bound(first);
  // The previous range, if it is adjacent.
  if (next != ranges_.begin()) {
    const auto before = std::prev(next);
    if (before->second >= last) return;
    if (before->second + 1 >= first) {
      first = before->first;
      size_ -= before->second - before->first + 1;
      next = ranges_.erase(before);
    }
  }
  while (next != ranges_.end() && next->first - 1 <= last) {
    last = std::max(last, next->second);
    size_ -= next->second - next->first + 1;
    next = ranges_.erase(next);
  }
  ranges_.emplace_hint(next, first, last);
  size_ += last - first + 1;
}

void TrialSet::Remove(TrialNumber trial) {
  auto next = ranges_.upper_bound(trial);
  if (next == ranges_.begin()) return;
  const auto at = std::prev(next);
  const auto [first, last] = *at;
  if (trial > last) return;
  next = ranges_.erase(at);
  if (trial < last) next = ranges_.emplace_hint(next, trial + 1, last);
  if (first < trial) ranges_.emplace_hint(next, first, trial - 1);
  --size_;
}

bool TrialSet::Has(TrialNumber trial) const {
  const auto next = ranges_.upper_bound(trial);
  return next != ranges_.begin() && std::prev(next)->second >= trial;
}

std::vector<TrialRange> TrialSet::ranges() const { return {ranges_.begin(), ranges_.end()}; }

namespace {

constexpr unsigned kClassBits = 4;
constexpr std::uint32_t kMaxAttempts = (1U << (32 - kClassBits)) - 1;

TrialEnds::End EndFrom(std::uint32_t end) {
  return {static_cast<TrialClass>(end & ((1U << kClassBits) - 1)), end >> kClassBits};
}

}  // namespace

void TrialEnds::Set(TrialNumber trial, End end) {
  const std::uint32_t attempts = std::clamp(end.attempts, 1U, kMaxAttempts);
  chunks_[trial / kChunk][trial % kChunk] = attempts << kClassBits | static_cast<std::uint32_t>(end.trial_class);
}

std::optional<TrialEnds::End> TrialEnds::Of(TrialNumber trial) const {
  const auto chunk = chunks_.find(trial / kChunk);
  if (chunk == chunks_.end() || chunk->second[trial % kChunk] == 0) return std::nullopt;
  return EndFrom(chunk->second[trial % kChunk]);
}

void TrialEnds::Remove(TrialRange range, const std::function<void(TrialNumber, End)>& take) {
  for (auto chunk = chunks_.lower_bound(range.first / kChunk); chunk != chunks_.end(); ++chunk) {
    const TrialNumber begin = chunk->first * kChunk;
    if (begin > range.second) return;
    for (std::size_t i = 0; i < kChunk; ++i) {
      const TrialNumber trial = begin + i;
      if (trial < range.first || trial > range.second || chunk->second[i] == 0) continue;
      const End end = EndFrom(std::exchange(chunk->second[i], 0));
      take(trial, end);
    }
  }
}

void TrialEnds::ForEach(const std::function<void(TrialNumber, End)>& take) const {
  for (const auto& [number, chunk] : chunks_) {
    for (std::size_t i = 0; i < kChunk; ++i) {
      if (chunk[i] != 0) take(number * kChunk + i, EndFrom(chunk[i]));
    }
  }
}

namespace {

int RankOf(TrialClass trial_class) {
  if (trial_class == TrialClass::kOk) return 2;
  return trial_class == TrialClass::kStopped || trial_class == TrialClass::kInfeasible ? 1 : 0;
}

int RankOf(const AttemptOutcome& attempt) {
  return attempt.ended && !attempt.interrupted ? RankOf(attempt.trial_class) : 0;
}

}  // namespace

AttemptOutcome OutcomeOf(const AttemptEnded& end) { return {true, end.interrupted, end.trial_class, end.loss}; }

std::optional<double> ResultOf(const AttemptOutcome& attempt) {
  return RankOf(attempt) > 0 ? attempt.loss : std::nullopt;
}

bool IsKeptInstead(const AttemptOutcome& later, const AttemptOutcome& earlier) {
  const int rank = RankOf(later);
  if (rank != RankOf(earlier)) return rank > RankOf(earlier);
  return rank < 2 || !earlier.loss || (later.loss && *later.loss < *earlier.loss);
}

std::string TrialStanding::State(bool live) const {
  if (over) return paused ? "paused" : std::string(TrialClassName(kept_class));
  if (!latest_ended) return live ? "running" : "lost";
  return latest_interrupted ? "interrupted" : "again";
}

TrialClass KeptClass(TrialClass later, TrialClass earlier) {
  return RankOf(later) >= RankOf(earlier) ? later : earlier;
}

namespace {

// Possible trials that have not begun: a head judges a few hundred at a time, and the next ones when these have begun.
constexpr std::size_t kMaxWaiting = 1U << 18;

}  // namespace

void OpenTrials::HeadBegan(const SweepBegan& entry) {
  sampled_ = entry.trials;
  // After a change of the recipe the sampler may have fewer trials.
  if (sampled_ > 0) open_.erase(open_.lower_bound(sampled_), open_.end());
  if (!entry.accepted) return;
  for (auto& [trial, open] : open_) open.plan.clear();
}

void OpenTrials::Edited(const SweepEdited& entry) {
  sampled_ = std::max(entry.trials, judged_to_);
  if (!entry.accepted) return;
  for (auto& [trial, open] : open_) open.plan.clear();
}

void OpenTrials::Judged(const PointsJudged& entry, const TrialSet& over) {
  TrialNumber end = entry.first + std::min<std::uint64_t>(entry.count, kMaxWaiting);
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
    for (; next < to && open_.size() < kMaxWaiting; ++next) {
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
  trial.devices = entry.devices;
  trial.resumed = entry.resumed;
  trial.pause = 0;
  trial.promoted = false;
  if (entry.resumed.checkpoint.empty()) {
    trial.first = entry.attempt;
    trial.rungs = 0;
  }
  if (const auto id = PointNumber(entry.id)) points_.insert(*id);
}

void OpenTrials::Reached(const RungReached& entry) {
  const auto open = open_.find(entry.trial);
  if (open == open_.end()) return;
  if (entry.decision.paused) open->second.pause = entry.decision.rung + 1;
  if (entry.decision.stop) return;
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
  device_ms_ += DeviceMs(entry.ms, trial.devices);
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

void OpenTrials::Skip(const std::vector<TrialRange>& trials) {
  for (const auto& [first, last] : trials) {
    for (auto open = open_.lower_bound(first); open != open_.end() && open->first <= last;) {
      if (open->second.attempts > 0) {
        ++open;
        continue;
      }
      impossible_.Add(open->first);
      open = open_.erase(open);
    }
  }
}

void OpenTrials::Restore(const std::vector<TrialRange>& trials, const TrialSet& over) {
  for (const auto& [first, last] : trials) {
    for (TrialNumber trial = first; trial <= last && IsTrial(trial) && open_.size() < kMaxWaiting; ++trial) {
      if (!impossible_.Has(trial) || over.Has(trial)) continue;
      impossible_.Remove(trial);
      open_.try_emplace(trial);
    }
  }
}

void OpenTrials::Promoted(const TrialPromoted& entry, OpenTrial paused) {
  OpenTrial& open = open_[entry.trial] = std::move(paused);
  open.rungs = entry.rung + 1;
  open.promoted = true;
  open.pause = 0;
  open.counted = open.free = 0;
}

namespace {

// Of equal losses the trial with the smaller number, as where trials are listed.
bool IsBetter(double loss, TrialNumber trial, double best, TrialNumber of_best) {
  return loss < best || (loss == best && trial < of_best);
}

}  // namespace

void FinishedTrials::Add(const AttemptEnded& entry, OpenTrial trial) {
  const bool well = entry.trial_class == TrialClass::kOk;
  if (well && entry.loss && seeds_.count > 0) {
    AddRepetition(entry, trial);
  } else if (well && entry.loss && (!best_ || IsBetter(*entry.loss, entry.trial, best_->loss, best_->trial))) {
    best_ = {entry.trial, entry.attempt, *entry.loss, std::move(trial.id), std::move(trial.point)};
  }
  if (well && !entry.losses.empty()) losses_[entry.trial] = entry.losses;
  const TrialClass kept = trial.kept ? KeptClass(entry.trial_class, *trial.kept) : entry.trial_class;
  ends_.Set(entry.trial, {kept, trial.attempts});
  ++counts_[static_cast<std::size_t>(kept)];
  numbers_.Add(entry.trial);
}

double LossOfAll(const RepeatedPoint& point, bool median) {
  std::vector<double> losses;
  for (const auto& [trial, result] : point.results) losses.push_back(result.loss);
  return ValueOfGroup(std::move(losses), median);
}

double DeviationOf(const RepeatedPoint& point) {
  std::vector<double> losses;
  for (const auto& [trial, result] : point.results) losses.push_back(result.loss);
  return std::sqrt(StatisticsOf(losses).variance);
}

const RepeatedPoint* FinishedTrials::FindRepeated(const Point& point) const {
  const auto found = points_.find(PointId(point));
  return found == points_.end() ? nullptr : &found->second;
}

void FinishedTrials::AddRepetition(const AttemptEnded& entry, const OpenTrial& trial) {
  Point without_seed = trial.point;
  without_seed.erase(seeds_.param);
  RepeatedPoint& point = points_[PointId(without_seed)];
  const auto [known, is_new] =
      point.results.emplace(entry.trial, RepeatedPoint::Result{*entry.loss, entry.attempt, trial.id});
  if (!is_new && *entry.loss < known->second.loss) known->second = {*entry.loss, entry.attempt, trial.id};
  if (point.results.size() < seeds_.count) return;
  const double loss = LossOfAll(point, seeds_.median);
  if (best_) {
    const RepeatedPoint* const of_best = FindRepeated(best_->point);
    const TrialNumber first = of_best == nullptr ? best_->trial : of_best->results.begin()->first;
    if (!IsBetter(loss, point.results.begin()->first, best_->loss, first)) return;
  }
  const auto less = [](const auto& a, const auto& b) { return a.second.loss < b.second.loss; };
  const auto& [number, result] = *std::min_element(point.results.begin(), point.results.end(), less);
  best_ = BestTrial{number, result.attempt, loss, result.id, without_seed, point.results.size(), DeviationOf(point)};
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

std::string SkipText(const std::string& name, const Value& value) {
  return name + "=" + (value.AsString() != nullptr ? *value.AsString() : ToText(value));
}

std::uint64_t SweepProgress::GroupOf(TrialNumber trial) const {
  const auto found = group_of_.find(trial);
  return found == group_of_.end() ? kNoGroup | trial : found->second;
}

void SweepProgress::Join(const AttemptBegan& entry) {
  const Repetitions& seeds = finished_.seeds();
  if (seeds.count == 0 || entry.attempt > 0) return;
  Point point = entry.point;
  point.erase(seeds.param);
  const auto id = PointNumber(PointId(point));
  if (!id) return;
  const auto [group, is_new] = groups_.emplace(*id, groups_.size());
  group_of_[entry.trial] = group->second;
  if (is_new) group_points_.push_back(std::move(point));
}

void SweepProgress::Take(const SweepEntry& entry) {
  std::visit(Overloaded{[this](const SweepBegan& e) {
                          sweep_id_ = e.sweep_id;
                          name_ = e.name;
                          recipe_ = e.recipe;
                          ended_.reset();
                          if (e.all_hosts) quarantined_.clear();
                          open_.HeadBegan(e);
                          finished_.HeadBegan(e);
                          // As for open trials.
                          if (e.trials > 0) paused_.erase(paused_.lower_bound(e.trials), paused_.end());
                          for (auto& [trial, paused] : paused_) {
                            if (e.accepted) paused.plan.clear();
                          }
                        },
                        [this](const PointsJudged& e) {
                          open_.Judged(e, over());
                          if (e.raced) raced_ += e.count;
                          for (const PointsJudged::Reason& reason : e.impossible) {
                            const auto skipped = skipped_.find(reason.skipped);
                            if (skipped == skipped_.end()) continue;
                            for (const TrialRange& range : reason.trials) skipped->second.trials.Add(range);
                          }
                        },
                        [this](const AttemptBegan& e) {
                          open_.Began(e, over());
                          Join(e);
                        },
                        [this](const RungReached& e) {
                          rung_reports_.push_back({e.decision.rung, e.trial, e.loss, e.decision.stop});
                          open_.Reached(e);
                        },
                        [](const MedianStopped&) {},
                        [this](const AttemptEnded& e) {
                          auto trial = open_.Ended(e);
                          if (!trial) return;
                          if (trial->pause > 0 && e.trial_class == TrialClass::kStopped) {
                            OpenTrial& paused = paused_[e.trial] = *trial;
                            paused.kept = trial->kept ? KeptClass(e.trial_class, *trial->kept) : e.trial_class;
                          }
                          finished_.Add(e, *std::move(trial));
                        },
                        [this](const TrialPromoted& e) {
                          auto paused = paused_.extract(e.trial);
                          if (paused.empty()) return;
                          finished_.Remove({e.trial, e.trial}, [](TrialNumber, TrialEnds::End) {});
                          promotions_.push_back(e);
                          open_.Promoted(e, std::move(paused.mapped()));
                        },
                        [this](const HostQuarantined& e) {
                          bool& stays = quarantined_[e.host];
                          stays = stays || e.stays;
                        },
                        [this](const TrialsReopened& e) {
                          for (const TrialRange& range : e.trials) {
                            paused_.erase(paused_.lower_bound(range.first), paused_.upper_bound(range.second));
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
                          if (e.device_hours) steered_.device_hours = e.device_hours;
                          steered_.points.insert(steered_.points.end(), e.points.begin(), e.points.end());
                        },
                        [this](const SweepEdited& e) {
                          recipe_ = e.recipe;
                          ++edits_;
                          no_gain_.reset();  // in the space before
                          last_edit_ = e.edit;
                          steered_.trials.reset();  // those of the description that it was steered from
                          open_.Edited(e);
                          finished_.Edited(e);
                          for (auto& [trial, paused] : paused_) {
                            if (e.accepted) paused.plan.clear();
                          }
                        },
                        [this](const ValueSkipped& e) {
                          open_.Skip(e.trials);
                          SkippedValue& skipped = skipped_[SkipText(e.name, e.value)];
                          skipped.why = e;
                          for (const TrialRange& range : std::exchange(skipped.why.trials, {})) {
                            skipped.trials.Add(range);
                          }
                        },
                        [this](const ValueRestored& e) {
                          open_.Restore(e.trials, over());
                          skipped_.erase(SkipText(e.name, e.value));
                          restored_.insert(SkipText(e.name, e.value));
                        },
                        [this](const NoGainExpected& e) { no_gain_ = e; }, [this](const SweepEnded& e) { ended_ = e; }},
             entry);
}

GroupStatistics PointGroup::statistics() const {
  std::vector<double> values;
  for (const auto& [trial, its_loss] : losses) values.push_back(its_loss);
  return StatisticsOf(values);
}

std::vector<PointGroup> PointGroupsOf(const SweepProgress& progress) {
  if (progress.seeds().count == 0) return {};
  std::vector<PointGroup> groups(progress.group_points().size());
  for (std::size_t number = 0; number < groups.size(); ++number) {
    PointGroup& group = groups[number];
    group.point = progress.group_points()[number];
    const RepeatedPoint* repeated = progress.FindRepeated(group.point);
    if (repeated == nullptr || repeated->results.empty()) continue;
    for (const auto& [trial, result] : repeated->results) group.losses.emplace(trial, result.loss);
    group.loss = LossOfAll(*repeated, progress.seeds().median);
    group.deviation = DeviationOf(*repeated);
    group.ranked = group.losses.size() >= progress.seeds().count;
  }
  for (const auto& [trial, group] : progress.groups()) groups[group].trials.push_back(trial);
  const auto key = [](const PointGroup& group) {
    return std::tuple(!group.ranked, !group.loss, group.loss.value_or(0), group.trials.front());
  };
  std::sort(groups.begin(), groups.end(),
            [&](const PointGroup& one, const PointGroup& other) { return key(one) < key(other); });
  return groups;
}

bool SweepProgress::IsPaused(TrialNumber trial) const {
  const auto paused = paused_.find(trial);
  return paused != paused_.end() && paused->second.kept == TrialClass::kStopped;
}

std::vector<std::pair<std::string, std::uint64_t>> StatesOfOver(const SweepProgress& progress) {
  const auto paused =
      static_cast<std::uint64_t>(std::count_if(progress.paused().begin(), progress.paused().end(),
                                               [&](const auto& one) { return progress.IsPaused(one.first); }));
  std::vector<std::pair<std::string, std::uint64_t>> states;
  const auto add = [&](std::string name, std::uint64_t count) {
    if (count > 0) states.emplace_back(std::move(name), count);
  };
  for (std::size_t i = 0; i < kTrialClassNames.size(); ++i) {
    const auto trial_class = static_cast<TrialClass>(i);
    const bool has_paused = trial_class == TrialClass::kStopped;
    add(std::string(kTrialClassNames[i]), progress.count(trial_class) - (has_paused ? paused : 0));
    if (has_paused) add("paused", paused);
  }
  return states;
}

TrialCounts CountsOf(const SweepProgress& progress, bool live) {
  TrialCounts counts;
  counts.over = progress.over().size();
  counts.failed = progress.failed();
  for (const auto& [text, skipped] : progress.skipped()) counts.skipped += skipped.trials.size();
  counts.impossible = progress.impossible().size() - progress.raced() - counts.skipped;
  counts.raced = progress.raced();
  for (const auto& [trial, open] : progress.open()) counts.running += live && open.running ? 1 : 0;
  counts.possible = progress.trials() - std::min<std::uint64_t>(progress.trials(), progress.impossible().size());
  counts.waiting = counts.possible - std::min(counts.possible, counts.over + counts.running);
  return counts;
}

std::optional<std::uint64_t> MostTrials(const SweepProgress& progress, const BudgetChoice& budget) {
  if (!budget.trials) return std::nullopt;
  return std::max(*budget.trials, progress.steered().max_trials.value_or(0));
}

std::optional<double> MaxDeviceHours(const SweepProgress& progress, const BudgetChoice& budget) {
  return progress.steered().device_hours ? progress.steered().device_hours : budget.device_hours;
}

double TrialsLeft(const SweepProgress& progress, const BudgetChoice& budget) {
  const auto judged = static_cast<double>(progress.judged_to());
  const double possible = judged == 0 ? 1 : 1 - static_cast<double>(progress.impossible().size()) / judged;
  const double left =
      static_cast<double>(progress.open().size()) + (static_cast<double>(progress.trials()) - judged) * possible;
  const auto most = MostTrials(progress, budget);
  if (!most) return left;
  return std::min(left, static_cast<double>(*most - std::min<std::uint64_t>(*most, progress.over().size())));
}

DeviceHours DeviceHoursOf(const SweepProgress& progress, const BudgetChoice& budget) {
  DeviceHours hours{static_cast<double>(progress.device_ms()) / kMsPerHour, MaxDeviceHours(progress, budget), {}};
  const auto over = static_cast<double>(progress.over().size());
  if (over == 0) return hours;
  hours.forecast = hours.spent * (1 + TrialsLeft(progress, budget) / over);
  if (hours.limit) hours.forecast = std::min(*hours.forecast, std::max(*hours.limit, hours.spent));
  return hours;
}

std::string SweepState(const SweepProgress& progress, bool live) {
  if (live) return "running";
  if (!progress.ended()) return "lost";
  return progress.ended()->complete ? "complete" : "stopped";
}

}  // namespace muster
