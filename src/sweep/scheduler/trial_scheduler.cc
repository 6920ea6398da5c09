#include "sweep/scheduler/trial_scheduler.h"

#include <algorithm>
#include <map>
#include <utility>

#include <fmt/format.h>

#include "base/values/quoting.h"
#include "base/values/text_parts.h"
#include "sweep/record/sweep_status.h"
#include "sweep/scheduler/trial_failures.h"

namespace muster {

tl::expected<SweepSteered, std::string> SteeringFor(const SteeringRequest& request, const TrialPoints& points,
                                                    std::optional<std::uint64_t> most) {
  SweepSteered steered;
  steered.slots = request.slots;
  steered.points = request.points;
  steered.device_hours = request.device_hours;
  const std::uint64_t add = request.add_trials;
  const std::uint64_t chosen = request.points.size();
  if (points.waiting().size() + chosen > TrialPoints::kMaxChosen) {
    return tl::make_unexpected(fmt::format("{} chosen points would wait, and at most {} can",
                                           points.waiting().size() + chosen, TrialPoints::kMaxChosen));
  }
  if (add == 0 && chosen == 0) return steered;
  const std::uint64_t room = points.limit() - points.size();
  const std::uint64_t unused = most && *most < points.size() ? points.size() - *most : 0;
  if (add > room + unused) {
    if (room + unused == 0) {
      return tl::make_unexpected(
          fmt::format("no trial can be added: all {} points of the space are trials already", points.limit()));
    }
    return tl::make_unexpected(
        fmt::format("at most {} trials can be added: the sampler has {} in all", room + unused, points.limit()));
  }
  if (most) steered.max_trials = *most + add + chosen;
  if (room > 0 || chosen > 0) steered.trials = points.SizeWith(request.points) + std::min(add, room);
  return steered;
}

tl::expected<void, std::string> CheckUnskip(const std::vector<std::string>& values, const SweepProgress& progress) {
  std::vector<std::string> skipped;
  for (const auto& [text, value] : progress.skipped()) skipped.push_back(text);
  for (const std::string& value : values) {
    if (progress.skipped().contains(value)) continue;
    return tl::make_unexpected(Quoted(value) + " is not skipped" +
                               (skipped.empty() ? ", nor is any other value" : "; skipped: " + Joined(skipped, ", ")));
  }
  return {};
}

TrialScheduler::TrialScheduler(const SweepDescription& sweep, TrialPoints& points, SweepProgress progress,
                               HostPool pool, std::function<bool(const SweepEntry&)> record)
    : costs_(sweep),
      gain_(sweep),
      sweep_(sweep),
      points_(points),
      record_(std::move(progress),
              [this, &points, record = std::move(record)](const SweepEntry& entry) {
                if (!record(entry)) return false;
                points.Take(entry);
                if (has_table_) table_.Take(entry);
                if (has_gain_) gain_.Take(entry);
                costs_.Take(entry);
                return true;
              }),
      hosts_(std::move(pool), sweep.retry.quarantine_host_after, record_),
      planning_(sweep, points, record_, hosts_),
      running_(sweep, record_, hosts_) {
  ApplySteering();  // of earlier heads
}

void TrialScheduler::Choose(std::vector<Point> points) {
  if (points.empty()) return;
  SweepSteered steered;
  steered.trials = points_.SizeWith(points);
  steered.points = std::move(points);
  if (record_.Record(steered)) ApplySteering();
}

tl::expected<void, std::string> TrialScheduler::Steer(const SteeringRequest& request) {
  if (request.empty()) return {};
  if (stopping()) return tl::make_unexpected(std::string("the sweep is ending: give this to muster resume"));
  const auto steered = SteeringFor(request, points_, planning_.MostTrials());
  if (!steered) return tl::make_unexpected(steered.error());
  if (auto checked = CheckUnskip(request.unskip, progress()); !checked) return checked;
  const auto unwritten = [] { return tl::make_unexpected(std::string("the journal cannot be written")); };
  if (*steered != SweepSteered{} && !record_.Record(*steered)) return unwritten();
  ApplySteering();
  for (const std::string& text : request.unskip) {
    const auto skipped = progress().skipped().find(text);
    if (skipped == progress().skipped().end()) continue;  // it was named twice
    ValueRestored restored{skipped->second.why.name, skipped->second.why.value, {}};
    TrialSet trials;
    for (const auto& [first, last] : skipped->second.trials.ranges()) {
      for (TrialNumber trial = first; trial <= last; ++trial) {
        if (!points_.At(trial).empty()) trials.Add(trial);  // one without was given up when the sweep was edited
      }
    }
    restored.trials = trials.ranges();
    if (!record_.Record(restored)) return unwritten();
    planning_.Restore(restored.trials);
  }
  Promote();
  return {};
}

bool TrialScheduler::RecordEdit(const std::vector<SweepEntry>& entries) {
  return std::all_of(entries.begin(), entries.end(), [this](const SweepEntry& entry) { return record_.Record(entry); });
}

void TrialScheduler::Edited() {
  running_.Edited(sweep_);
  gain_ = GainWatch(sweep_);
  has_gain_ = false;
  hosts_.pool().SetSlots(sweep_.budget.slots);
  ApplySteering();
  planning_.Edited();
  Promote();
}

void TrialScheduler::ApplySteering() {
  const SweepSteered& steered = progress().steered();
  if (steered.trials) points_.Extend(*steered.trials);
  if (steered.slots) hosts_.pool().SetSlots(*steered.slots);
}

void TrialScheduler::Promote() {
  if (!sweep_.early_stop || !sweep_.early_stop->promote) return;
  StopRules& rules = running_.rules();
  while (!stopping()) {
    const auto next = rules.NextPromotion();
    if (!next) return;
    if (!progress().paused().contains(next->trial)) {  // it is retried as a whole
      rules.Dropped(*next);
      continue;
    }
    if (!planning_.HasRoomToPromote() || !record_.Record(*next)) return;
    rules.Promoted(*next);
    planning_.Promote(next->trial);
  }
}

void TrialScheduler::ResumeFrom(const SweepBegan& began,
                                const std::function<std::optional<AttemptEnd>(TrialNumber, const OpenTrial&)>& adopt,
                                std::vector<TrialRange> reopened) {
  const bool head_died = progress().attempts() > 0 && !progress().ended();
  if (!record_.Record(began)) return;
  if (head_died && sweep_.stop_after.no_gain && progress().no_gain()) no_gain_ = NoGainText(*progress().no_gain());
  if (!reopened.empty() && !record_.Record(TrialsReopened{std::move(reopened)})) return;
  hosts_.Resume();
  const std::map<TrialNumber, OpenTrial> before = progress().open();
  for (const auto& [trial, open] : before) {
    if (!open.running) continue;
    running_.Adopt(trial, open.attempts - 1);
    auto end = adopt(trial, open);
    if (!end) {
      end.emplace();
      end->interrupted = true;
    }
    if (end->interrupted && end->why.empty()) end->why = "its head was lost";
    Ended(trial, *std::move(end));
  }
  planning_.Resume();
  Promote();
}

std::optional<TrialQueue::Start> TrialScheduler::NextStart() {
  if (stopping() || !OverBudget().empty()) return std::nullopt;
  auto start = planning_.TakeNext();
  if (start) running_.Add(*start, NextAttempt(start->trial));
  return start;
}

std::string TrialScheduler::OverBudget() const {
  const auto hours = MaxDeviceHours(progress(), sweep_.budget);
  if (!hours) return {};
  std::vector<DeviceBudget::Running> running;
  for (const auto& [trial, open] : progress().open()) {
    const TrialProgress* reached = running_.progress(trial);
    if (reached == nullptr) continue;
    const auto ms = run_times_.find(trial);
    const std::uint64_t device_ms = DeviceMs(ms == run_times_.end() ? 0 : ms->second, running_.DevicesOf(trial));
    running.push_back({static_cast<double>(device_ms),
                       open.resumed.checkpoint.empty() ? reached->resource() : std::optional<double>()});
  }
  return costs_.Refusal(*hours, static_cast<double>(progress().device_ms()), running);
}

std::uint32_t TrialScheduler::NextAttempt(TrialNumber trial) const {
  const auto open = progress().open().find(trial);
  return open == progress().open().end() ? 0 : open->second.attempts;
}

bool TrialScheduler::Began(const AttemptBegan& began) {
  planning_.Began(began.trial);
  AttemptBegan with_devices = began;
  with_devices.devices = running_.DevicesOf(began.trial);
  if (!record_.Record(with_devices)) {
    running_.Remove(began.trial);
    return false;
  }
  const auto open = progress().open().find(began.trial);
  if (open != progress().open().end()) running_.Began(began.trial, open->second.rungs);
  return true;
}

void TrialScheduler::Ended(TrialNumber trial, AttemptEnd end) {
  const std::optional<RunningTrials::Attempt> attempt = running_.Remove(trial);
  if (!attempt) return;

  const TrialProgress& reached = attempt->progress;
  AttemptEnded ended;
  ended.trial = trial;
  ended.attempt = attempt->number;
  const std::string excluded = end.judged ? HostOf(*end.judged, attempt->hosts) : std::string();
  // An interrupted attempt has not come to its end: whatever its processes did, it is not "ok".
  const bool cut = end.interrupted && !IsFailure(end.trial_class);
  ended.trial_class = cut ? TrialClass::kPreempted : end.trial_class;
  ended.interrupted = end.interrupted;
  ended.blamed = std::move(end.blamed);
  ended.why = std::move(end.why);
  ended.loss = end.loss ? end.loss : reached.loss();
  ended.metrics = end.metrics.empty() ? reached.metrics() : std::move(end.metrics);
  if (!IsFailure(end.trial_class) && !end.interrupted) ended.losses = reached.losses();
  ended.ms = end.ms;
  std::optional<GivenVerdict> judged;
  if (end.interrupted) {
    ended.again = true;
    ended.counted = false;
  } else {
    const auto open = progress().open().find(trial);
    const OpenTrial before = open == progress().open().end() ? OpenTrial{} : open->second;
    const RetryVerdict verdict = AfterFailure(sweep_.retry, end.trial_class, before.counted, before.free);
    ended.again = verdict.again;
    ended.counted = verdict.counted;
    if (IsFailure(end.trial_class) && !std::exchange(has_failures_, true)) RecallFailures();
    judged = Judge(trial, end, attempt->hosts);
    if (judged) {
      ended.verdict = RestartVerdictName(judged->verdict);
      ended.rule = judged->rule;
    }
    if (judged && ended.again && judged->verdict == RestartVerdict::kStop) {
      ended.again = false;
      ended.why += "; not retried: " + judged->evidence;
    }
    if (!ended.again) failures_.erase(trial);
  }
  if (!record_.Record(ended)) return;
  if (judged && judged->verdict == RestartVerdict::kExcludeHost) hosts_.Quarantine(excluded, judged->evidence, true);
  if (ended.again) planning_.Retry(trial);
  if (!ended.interrupted) Settle(trial, *attempt, ended);
  Promote();
}

void TrialScheduler::Settle(TrialNumber trial, const RunningTrials::Attempt& attempt, const AttemptEnded& ended) {
  if (!ended.again) CountFailure(ended);
  if (!ended.again && IsFailure(ended.trial_class)) SkipValues();
  if (ended.trial_class == TrialClass::kOk) WatchGain();
  hosts_.ForgetMoves(trial);
  if (const auto paused = progress().paused().find(trial); paused != progress().paused().end()) {
    running_.rules().Paused(trial, paused->second.pause - 1);
  }
  if (!IsFailure(ended.trial_class)) {
    if (ended.trial_class == TrialClass::kOk) running_.Finished(trial, attempt.progress);
    return hosts_.Succeeded(attempt.hosts);
  }
  if (!ended.blamed.empty()) return FailedOn(ended.blamed, trial, ended.trial_class);
  if (attempt.hosts.size() == 1) FailedOn(pool().hosts()[attempt.hosts.front()].name, trial, ended.trial_class);
}

void TrialScheduler::CountFailure(const AttemptEnded& ended) {
  if (!IsFailure(ended.trial_class)) return failed_.clear();
  std::string reason = ended.why;
  std::erase_if(reason, IsDigit);
  const std::uint64_t alike = ++failed_[{ended.trial_class, std::move(reason)}];
  if (!failed_alike_.empty() || alike < sweep_.stop_after.failures.value_or(alike + 1)) return;
  failed_alike_ = fmt::format("{} failed alike, none has a result: {}{}", Counted(alike, "trial"),
                              TrialClassName(ended.trial_class), ended.why.empty() ? "" : ": " + ended.why);
}

void TrialScheduler::RecallBy(Recall recall, RecallJudged judged) {
  recall_ = std::move(recall);
  recall_judged_ = std::move(judged);
  has_table_ = has_gain_ = false;
  has_failures_ = progress().attempts() == 0;
}

void TrialScheduler::RecallFailures() {
  RetriedAttempts retried;
  hosts_.ForgetFailures();
  failed_.clear();
  recall_([&](const SweepEntry& entry) {
    if (std::holds_alternative<SweepEnded>(entry)) {  // who resumes it lets it count from zero
      failed_.clear();
      failed_alike_.clear();
    }
    const AttemptBegan* const attempt = retried.Take(entry);
    if (attempt == nullptr) return;
    const auto& ended = std::get<AttemptEnded>(entry);
    hosts_.Recall(attempt->hosts, ended);
    if (!ended.again) CountFailure(ended);
  });
  if (!sweep_.retry.verdict) return;
  for (const auto& [trial, attempts] : retried.attempts()) {
    for (const AttemptBegan& attempt : attempts) {
      auto judged = recall_judged_(attempt);
      if (!judged) continue;
      std::string host = HostOfAttempt(attempt, *judged);
      Remember(trial, *std::move(judged), std::move(host));
    }
  }
}

void TrialScheduler::WatchGain() {
  if (!gain_.asks() || progress().no_gain() || stopping()) return;
  const std::uint64_t results = progress().count(TrialClass::kOk);
  const auto& seeds = sweep_.sampler.seeds;
  if (results < kMinRegretResults || results > kMaxGpResults * (seeds ? seeds->count : 1)) return;
  if (!std::exchange(has_gain_, true)) recall_([this](const SweepEntry& entry) { gain_.Take(entry); });
  if (!gain_.IsDue()) return;
  const auto expected = gain_.Ask();
  if (!expected || !record_.Record(*expected)) return;
  if (sweep_.stop_after.no_gain) no_gain_ = NoGainText(*expected);
}

void TrialScheduler::SkipValues() {
  const std::uint64_t least = sweep_.skip_after.failures;
  if (least == 0 || stopping() || progress().failed() < least) return;
  if (!std::exchange(has_table_, true)) recall_([this](const SweepEntry& entry) { table_.Take(entry); });
  for (const FailureFinding& finding : table_.Findings(least)) {
    const auto& seeds = sweep_.sampler.seeds;
    const std::string text = finding.name + "=" + finding.value;
    const Value* value = table_.Find(finding);
    if (value == nullptr || (seeds && finding.name == seeds->param)) continue;
    if (progress().skipped().contains(text) || progress().restored().contains(text)) continue;
    ValueSkipped skipped{finding.name,       *value,         finding.trial_class,
                         finding.failed,     finding.hosts,  finding.other_failed,
                         finding.other_over, finding.chance, {}};
    skipped.trials = planning_.WaitingWith(skipped.name, skipped.value);
    if (!record_.Record(skipped)) return;
    planning_.Skip(skipped.trials);
  }
}

// Of an attempt on one host, that host, by its name in the pool.
std::string TrialScheduler::HostOf(const FailureJudged& judged, const std::vector<std::uint32_t>& hosts) const {
  return hosts.size() == 1 ? pool().hosts()[hosts.front()].name : judged.host_name;
}

std::optional<GivenVerdict> TrialScheduler::Judge(TrialNumber trial, const AttemptEnd& end,
                                                  const std::vector<std::uint32_t>& hosts) {
  if (!sweep_.retry.verdict || !end.judged || !IsFailure(end.trial_class)) return std::nullopt;
  Remember(trial, *end.judged, HostOf(*end.judged, hosts));
  return GiveVerdict(failures_[trial], *rules_);
}

void TrialScheduler::Remember(TrialNumber trial, FailureJudged judged, std::string host) {
  failures_[trial].push_back(AsFailureOfTrial(std::move(judged), std::move(host), pool().hosts().size() > 1));
}

void TrialScheduler::FailedOn(const std::string& host, TrialNumber trial, TrialClass trial_class) {
  for (const TrialNumber reopened : hosts_.Failed(host, trial, trial_class)) planning_.Retry(reopened);
}

bool TrialScheduler::over() const {
  if (!running_.empty()) return false;
  return stopping() || complete() || planning_.exhausted();
}

bool TrialScheduler::complete() const { return progress().judged_to() >= points_.size() && progress().open().empty(); }

}  // namespace muster
