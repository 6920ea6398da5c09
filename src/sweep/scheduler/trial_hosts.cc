#include "sweep/scheduler/trial_hosts.h"

#include <algorithm>

#include <fmt/format.h>

namespace muster {
namespace {

bool FollowsThePoint(TrialClass trial_class) {
  return trial_class == TrialClass::kOomDevice || trial_class == TrialClass::kDiverged ||
         trial_class == TrialClass::kUserError || trial_class == TrialClass::kNoResult;
}

}  // namespace

void HostRecord::Succeeded(const std::string& host) {
  last_well_[host] = ++ends_;
  streaks_.erase(host);
}

std::vector<TrialNumber> HostRecord::Failed(const std::string& host, TrialNumber trial, TrialClass trial_class) {
  ++ends_;
  if (after_ == 0 || FollowsThePoint(trial_class)) return {};
  Streak& streak = streaks_[host];
  if (streak.trials.empty()) streak.began = ends_;
  if (std::find(streak.trials.begin(), streak.trials.end(), trial) == streak.trials.end()) {
    streak.trials.push_back(trial);
  }
  if (streak.trials.size() < after_) return {};
  const bool well_elsewhere = std::any_of(last_well_.begin(), last_well_.end(), [&](const auto& well) {
    return well.first != host && well.second > streak.began;
  });
  if (!well_elsewhere) return {};
  std::vector<TrialNumber> trials = std::move(streak.trials);
  streaks_.erase(host);
  return trials;
}

namespace {

bool IsNotItsFault(TrialClass trial_class) {
  return trial_class == TrialClass::kHostLost || trial_class == TrialClass::kPreempted;
}

// Whether another attempt would fail in the same way.
bool IsSureToRecur(TrialClass trial_class) {
  return trial_class == TrialClass::kDiverged || trial_class == TrialClass::kUserError ||
         trial_class == TrialClass::kNoResult;
}

}  // namespace

RetryVerdict AfterFailure(const RetryChoice& choice, TrialClass trial_class, std::uint32_t counted,
                          std::uint32_t free) {
  if (!IsFailure(trial_class)) return {};
  if (IsNotItsFault(trial_class) && free < kMaxUncounted) return {true, false};
  const bool wanted = choice.on.empty() ? !IsSureToRecur(trial_class)
                                        : std::find(choice.on.begin(), choice.on.end(), trial_class) != choice.on.end();
  return {wanted && counted < choice.max, true};
}

TrialHosts::TrialHosts(HostPool pool, std::uint32_t quarantine_after, RecordedProgress& record)
    : record_(record), pool_(std::move(pool)), failures_(pool_.hosts().size() > 1 ? quarantine_after : 0) {}

void TrialHosts::Open(std::uint32_t host) {
  if (!quarantined_.contains(pool_.hosts()[host].name)) pool_.Open(host);
}

void TrialHosts::Quarantine(const std::string& host, const std::string& why, bool stays) {
  for (std::uint32_t i = 0; i < pool_.hosts().size(); ++i) {
    if (pool_.hosts()[i].name != host) continue;
    pool_.Close(i);
    if (quarantined_.insert(host).second) record_.Record(HostQuarantined{host, why, stays});
  }
}

void TrialHosts::Resume() {
  std::set<std::uint32_t> out;
  for (const auto& [host, stays] : record_.progress().quarantined()) {
    for (std::uint32_t i = 0; stays && i < pool_.hosts().size(); ++i) {
      if (pool_.hosts()[i].name == host) out.insert(i);
    }
  }
  if (out.size() == pool_.hosts().size()) return;
  for (const std::uint32_t host : out) {
    pool_.Close(host);
    quarantined_.insert(pool_.hosts()[host].name);
  }
}

void TrialHosts::Recall(const std::vector<std::string>& hosts, const AttemptEnded& ended) {
  if (ended.interrupted) return;
  if (!IsFailure(ended.trial_class)) {
    for (const std::string& host : hosts) failures_.Succeeded(host);
  } else if (!ended.blamed.empty() || hosts.size() == 1) {
    failures_.Failed(ended.blamed.empty() ? hosts.front() : ended.blamed, ended.trial, ended.trial_class);
  }
}

void TrialHosts::Succeeded(const std::vector<std::uint32_t>& hosts) {
  for (const std::uint32_t host : hosts) failures_.Succeeded(pool_.hosts()[host].name);
}

std::vector<TrialNumber> TrialHosts::Failed(const std::string& host, TrialNumber trial, TrialClass trial_class) {
  const std::vector<TrialNumber> failed = failures_.Failed(host, trial, trial_class);
  if (failed.empty()) return {};
  Quarantine(host, fmt::format("{} trials failed there in a row while others succeeded elsewhere", failed.size()),
             true);
  std::vector<TrialNumber> reopened;
  for (const TrialNumber one : failed) {
    if (record_.progress().over().Has(one)) reopened.push_back(one);
  }
  if (reopened.empty()) return {};
  std::sort(reopened.begin(), reopened.end());
  TrialsReopened entry;
  for (const TrialNumber one : reopened) entry.trials.emplace_back(one, one);
  if (!record_.Record(entry)) return {};
  return reopened;
}

std::set<std::uint32_t> TrialHosts::MovedFrom(TrialNumber trial) const {
  const auto found = moved_from_.find(trial);
  return found == moved_from_.end() ? std::set<std::uint32_t>() : found->second;
}

}  // namespace muster
