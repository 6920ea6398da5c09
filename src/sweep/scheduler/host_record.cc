#include "sweep/scheduler/host_record.h"

#include <algorithm>

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

}  // namespace muster
