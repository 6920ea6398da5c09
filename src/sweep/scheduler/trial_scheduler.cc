#include "sweep/scheduler/trial_scheduler.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "plan/text/plan_text.h"
#include "space/point.h"

namespace muster {
TrialScheduler::TrialScheduler(const SweepDescription& sweep, Sampler& sampler, SweepProgress account, HostPool pool,
                               std::function<bool(const SweepEntry&)> record)
    : sweep_(sweep),
      sampler_(sampler),
      account_(std::move(account)),
      pool_(std::move(pool)),
      record_(std::move(record)),
      rules_(sweep, account_),
      hosts_(pool_.hosts().size() > 1 ? sweep.retry.quarantine_host_after : 0) {}

bool TrialScheduler::Record(const SweepEntry& entry) {
  if (!record_(entry)) {
    stopping_ = true;
    return false;
  }
  account_.Take(entry);
  return true;
}

void TrialScheduler::ResumeFrom(const SweepBegan& began,
                                const std::function<std::optional<AttemptEnd>(TrialNumber, const OpenTrial&)>& adopt,
                                std::vector<TrialRange> reopened) {
  if (!Record(began)) return;
  if (!reopened.empty() && !Record(TrialsReopened{std::move(reopened)})) return;
  const std::map<TrialNumber, OpenTrial> before = account_.open();
  for (const auto& [trial, open] : before) {
    if (!open.running) continue;
    Running& running = running_[trial];
    running.attempt = open.attempts - 1;
    auto end = adopt(trial, open);
    if (!end) {
      end.emplace();
      end->interrupted = true;
      end->why = "its head was lost";
    }
    Ended(trial, *std::move(end));
  }
  // Trials to be retried are in `to_plan_` already.
  std::set<TrialNumber> waiting(to_plan_.begin(), to_plan_.end());
  for (const auto& [trial, open] : account_.open()) {
    if (waiting.insert(trial).second && open.id.empty()) waiting_ids_.insert(NumberOf(trial));
  }
  to_plan_.assign(waiting.begin(), waiting.end());
}

std::uint64_t TrialScheduler::NumberOf(TrialNumber trial) const {
  return PointNumber(PointId(sampler_.At(trial))).value_or(0);
}

bool TrialScheduler::budget_used_up() const {
  return sweep_.budget.trials && account_.begun() >= *sweep_.budget.trials;
}

std::optional<std::pair<TrialNumber, std::uint64_t>> TrialScheduler::NextToJudge() {
  const TrialNumber first = account_.judged_to();
  if (judging_ || stopping_ || budget_used_up() || first >= sampler_.size() || to_plan_.size() >= kJudgedAtOnce / 2) {
    return std::nullopt;
  }
  judging_ = true;
  return std::pair(first, std::min(kJudgedAtOnce, sampler_.size() - first));
}

void TrialScheduler::Judged(PointsJudged judged) {
  judging_ = false;
  if (stopping_) return;  // it will be judged again
  TrialSet impossible;
  for (const PointsJudged::Reason& reason : judged.impossible) {
    for (const TrialRange& range : reason.trials) impossible.Add(range);
  }
  PointsJudged::Reason twice{"the same point as one before it", "", {}};
  std::vector<TrialNumber> possible;
  for (TrialNumber trial = judged.first; trial < judged.first + judged.count; ++trial) {
    if (impossible.Has(trial)) continue;
    const std::uint64_t id = NumberOf(trial);
    if (!account_.Knows(id) && waiting_ids_.insert(id).second) {
      possible.push_back(trial);
    } else if (!twice.trials.empty() && twice.trials.back().second + 1 == trial) {
      twice.trials.back().second = trial;
    } else {
      twice.trials.emplace_back(trial, trial);
    }
  }
  if (!twice.trials.empty()) judged.impossible.push_back(std::move(twice));
  if (!Record(judged)) return;
  to_plan_.insert(to_plan_.end(), possible.begin(), possible.end());
}

bool TrialScheduler::IsWithinBudget(TrialNumber trial) const {
  if (!sweep_.budget.trials) return true;
  const auto is_new = [&](TrialNumber one) {
    const auto open = account_.open().find(one);
    return open != account_.open().end() && open->second.attempts == 0;
  };
  if (!is_new(trial)) return true;  // it was new when it began
  std::uint64_t due = account_.begun();
  for (const TrialNumber one : planning_) due += is_new(one) ? 1 : 0;
  for (const auto& [one, plan] : plans_) due += is_new(one) ? 1 : 0;
  return due < *sweep_.budget.trials;
}

std::optional<TrialNumber> TrialScheduler::NextToPlan() {
  if (stopping_ || to_plan_.empty() || planning_.size() >= kPlansAtOnce || plans_.size() >= kMostReady ||
      !IsWithinBudget(to_plan_.front())) {
    return std::nullopt;
  }
  const TrialNumber trial = to_plan_.front();
  to_plan_.pop_front();
  planning_.insert(trial);
  return trial;
}

std::vector<TrialNumber> TrialScheduler::Following(std::size_t most) const {
  const auto count = static_cast<std::ptrdiff_t>(std::min(most, to_plan_.size()));
  return {to_plan_.begin(), to_plan_.begin() + count};
}

Result<void> TrialScheduler::Planned(TrialNumber trial, const std::string& plan_id, TrialNeeds needs) {
  const auto open = account_.open().find(trial);
  if (open != account_.open().end() && !open->second.plan.empty() && open->second.plan != plan_id) {
    NoLongerPlanned(trial);
    return Fail(Error("plan_changed", {},
                      fmt::format("trial {} ({}) has another plan than at its first attempt: {}, not {}", trial,
                                  PointText(sampler_.At(trial)), ShortPlanId(plan_id), ShortPlanId(open->second.plan)),
                      "what the recipe reads has changed, or it is not pure: muster check --deep RECIPE"));
  }
  plans_[trial] = plan_id;
  planned_[trial] = std::move(needs);
  NoLongerPlanned(trial);
  return {};
}

// A planned trial is ready once no earlier one is being planned, so that the start order does not depend on the speed
// of evaluators.
void TrialScheduler::NoLongerPlanned(TrialNumber trial) {
  planning_.erase(trial);
  while (!planned_.empty() && (planning_.empty() || planned_.begin()->first < *planning_.begin())) {
    auto next = planned_.extract(planned_.begin());
    const auto avoid = waited_on_.find(next.key());
    queue_.Add(next.key(), std::move(next.mapped()),
               avoid == waited_on_.end() ? std::set<std::uint32_t>() : avoid->second);
  }
}

void TrialScheduler::MarkImpossible(TrialNumber trial, const std::string& why, const std::string& place) {
  NoLongerPlanned(trial);
  Record(PointsJudged{trial, 1, {{why, place, {{trial, trial}}}}});
}

void TrialScheduler::PlanningAbandoned(TrialNumber trial) { NoLongerPlanned(trial); }

std::optional<TrialQueue::Start> TrialScheduler::NextStart() {
  if (stopping_) return std::nullopt;
  auto start = queue_.Next(pool_);
  if (start) running_[start->trial] = {NextAttempt(start->trial), start->needs, start->hosts, {}};
  return start;
}

std::uint32_t TrialScheduler::NextAttempt(TrialNumber trial) const {
  const auto open = account_.open().find(trial);
  return open == account_.open().end() ? 0 : open->second.attempts;
}

bool TrialScheduler::Began(const AttemptBegan& began) {
  plans_.erase(began.trial);
  waiting_ids_.erase(NumberOf(began.trial));
  if (Record(began)) {
    const auto running = running_.find(began.trial);
    const auto open = account_.open().find(began.trial);
    if (running != running_.end() && open != account_.open().end()) {
      rules_.Continue(running->second.progress, open->second.rungs);
    }
    return true;
  }
  const auto running = running_.extract(began.trial);
  if (!running.empty()) pool_.Give(running.mapped().needs, running.mapped().hosts);
  return false;
}

void TrialScheduler::Waits(TrialNumber trial, bool waits) {
  const auto running = running_.find(trial);
  if (running == running_.end() || running->second.waits == waits) return;
  running->second.waits = waits;
  if (waits) {
    pool_.Await(running->second.hosts);
  } else {
    pool_.AwaitNoMore(running->second.hosts);
  }
}

// Once from each host, so that it does not move in circles if devices are held everywhere.
std::optional<TrialNumber> TrialScheduler::NextToMove() {
  if (stopping_) return std::nullopt;
  for (auto& [trial, running] : running_) {
    if (!running.waits || running.moves) continue;
    std::set<std::uint32_t>& left = waited_on_[trial];
    std::set<std::uint32_t> avoid = left;
    avoid.insert(running.hosts.begin(), running.hosts.end());
    HostPool without = pool_;
    without.Give(running.needs, running.hosts);
    if (!without.Place(running.needs, avoid)) continue;
    running.moves = true;
    left = std::move(avoid);
    return trial;
  }
  return std::nullopt;
}

std::size_t TrialScheduler::waiting() const {
  return static_cast<std::size_t>(
      std::count_if(running_.begin(), running_.end(), [](const auto& one) { return one.second.waits; }));
}

std::uint32_t TrialScheduler::devices_awaited() const {
  std::uint32_t devices = 0;
  for (const auto& [trial, running] : running_) {
    for (const HostShare& share : running.needs) devices += running.waits ? share.devices : 0;
  }
  return devices;
}

void TrialScheduler::Recalled(TrialNumber trial, const MetricReport& report) {
  const auto running = running_.find(trial);
  if (running != running_.end()) rules_.Recall(running->second.progress, report);
}

StopRules::Outcome TrialScheduler::Reported(TrialNumber trial, const MetricReport& report) {
  const auto running = running_.find(trial);
  if (running == running_.end()) return {};
  StopRules::Outcome outcome = rules_.Take(trial, running->second.attempt, running->second.progress, report);
  for (const SweepEntry& entry : outcome.entries) {
    if (!Record(entry)) return {};
  }
  return outcome;
}

void TrialScheduler::Ended(TrialNumber trial, AttemptEnd end) {
  Waits(trial, false);
  const auto found = running_.find(trial);
  if (found == running_.end()) return;
  Running running = std::move(found->second);
  running_.erase(found);
  if (!running.hosts.empty()) pool_.Give(running.needs, running.hosts);

  AttemptEnded ended;
  ended.trial = trial;
  ended.attempt = running.attempt;
  ended.trial_class = end.trial_class;
  ended.interrupted = end.interrupted;
  ended.blamed = std::move(end.blamed);
  ended.why = std::move(end.why);
  ended.loss = end.loss ? end.loss : running.progress.loss();
  ended.metrics = end.metrics.empty() ? running.progress.metrics() : std::move(end.metrics);
  if (!IsFailure(end.trial_class) && !end.interrupted) ended.losses = running.progress.losses();
  ended.ms = end.ms;
  if (end.interrupted) {
    ended.again = true;
    ended.counted = false;
  } else {
    const auto open = account_.open().find(trial);
    const OpenTrial before = open == account_.open().end() ? OpenTrial{} : open->second;
    const RetryVerdict verdict = AfterFailure(sweep_.retry, end.trial_class, before.counted, before.free);
    ended.again = verdict.again;
    ended.counted = verdict.counted;
  }
  if (!Record(ended)) return;
  if (ended.again) to_plan_.push_front(trial);
  if (end.interrupted) return;
  waited_on_.erase(trial);
  if (!IsFailure(end.trial_class)) {
    if (end.trial_class == TrialClass::kOk) rules_.Finished(trial, running.progress);
    for (const std::uint32_t host : running.hosts) hosts_.Succeeded(PlaceName(host));
    return;
  }
  if (!ended.blamed.empty()) return Follow(ended.blamed, trial, end.trial_class);
  if (running.hosts.size() == 1) Follow(PlaceName(running.hosts.front()), trial, end.trial_class);
}

void TrialScheduler::Follow(const std::string& host, TrialNumber trial, TrialClass trial_class) {
  const std::vector<TrialNumber> failed = hosts_.Failed(host, trial, trial_class);
  if (failed.empty()) return;
  Quarantine(host, fmt::format("{} trials failed there in a row while others succeeded elsewhere", failed.size()));
  // Trials that it failed are retried elsewhere, without counting.
  TrialsReopened reopened;
  for (const TrialNumber one : failed) {
    if (account_.over().Has(one)) reopened.trials.emplace_back(one, one);
  }
  if (reopened.trials.empty()) return;
  std::sort(reopened.trials.begin(), reopened.trials.end());
  if (!Record(reopened)) return;
  for (const TrialRange& range : reopened.trials) to_plan_.push_front(range.first);
}

void TrialScheduler::Quarantine(const std::string& host, const std::string& why) {
  for (std::uint32_t i = 0; i < pool_.hosts().size(); ++i) {
    if (pool_.hosts()[i].name != host) continue;
    pool_.Close(i);
    if (left_alone_.insert(host).second) Record(HostQuarantined{host, why});
  }
}

bool TrialScheduler::over() const {
  if (!running_.empty()) return false;
  if (stopping_ || complete()) return true;
  if (judging_ || !planning_.empty()) return false;
  if (!queue_.empty()) return !Hopeless().empty();  // nothing runs, so everything that fits has been started
  return to_plan_.empty() ? budget_used_up() || account_.judged_to() >= sampler_.size()
                          : !IsWithinBudget(to_plan_.front());
}

bool TrialScheduler::complete() const { return account_.judged_to() >= sampler_.size() && account_.open().empty(); }

std::string TrialScheduler::Hopeless() const {
  TrialQueue left = queue_;
  const auto hopeless = left.TakeHopeless(pool_);
  if (hopeless.empty()) return {};
  return fmt::format("{} trial{} cannot be started: {}", hopeless.size(), hopeless.size() == 1 ? "" : "s",
                     hopeless.front().second);
}

const TrialProgress* TrialScheduler::progress(TrialNumber trial) const {
  const auto running = running_.find(trial);
  return running == running_.end() ? nullptr : &running->second.progress;
}

}  // namespace muster
