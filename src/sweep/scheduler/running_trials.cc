#include "sweep/scheduler/running_trials.h"

#include <algorithm>
#include <set>
#include <utility>

namespace muster {

RunningTrials::RunningTrials(const SweepDescription& sweep, RecordedProgress& record, TrialHosts& hosts)
    : record_(record), hosts_(hosts), rules_(sweep, record.progress()) {}

const TrialProgress* RunningTrials::progress(TrialNumber trial) const {
  const auto found = attempts_.find(trial);
  return found == attempts_.end() ? nullptr : &found->second.progress;
}

void RunningTrials::Add(const TrialQueue::Start& start, std::uint32_t attempt) {
  attempts_[start.trial] = {attempt, start.needs, start.hosts, {}};
}

void RunningTrials::Began(TrialNumber trial, std::uint64_t rungs) {
  const auto found = attempts_.find(trial);
  if (found == attempts_.end()) return;
  rules_.Repeats(trial, record_.progress().GroupOf(trial));
  rules_.Continue(found->second.progress, rungs);
}

std::optional<RunningTrials::Attempt> RunningTrials::Remove(TrialNumber trial) {
  Waits(trial, false);
  auto removed = attempts_.extract(trial);
  if (removed.empty()) return std::nullopt;
  Attempt& attempt = removed.mapped();
  if (!attempt.hosts.empty()) hosts_.pool().Give(attempt.needs, attempt.hosts);
  return std::move(attempt);
}

void RunningTrials::Waits(TrialNumber trial, bool waits) {
  const auto found = attempts_.find(trial);
  if (found == attempts_.end() || found->second.waits == waits) return;
  found->second.waits = waits;
  if (waits) {
    hosts_.pool().Await(found->second.hosts);
  } else {
    hosts_.pool().AwaitNoMore(found->second.hosts);
  }
}

std::size_t RunningTrials::waiting() const {
  return static_cast<std::size_t>(
      std::count_if(attempts_.begin(), attempts_.end(), [](const auto& one) { return one.second.waits; }));
}

std::uint32_t RunningTrials::devices_awaited() const {
  std::uint32_t devices = 0;
  for (const auto& [trial, attempt] : attempts_) {
    for (const HostShare& share : attempt.needs) devices += attempt.waits ? share.devices : 0;
  }
  return devices;
}

std::uint32_t RunningTrials::DevicesOf(TrialNumber trial) const {
  const auto found = attempts_.find(trial);
  if (found == attempts_.end()) return 0;
  std::uint32_t devices = 0;
  for (const HostShare& share : found->second.needs) devices += share.devices;
  return devices;
}

std::optional<TrialNumber> RunningTrials::NextToMove() {
  if (record_.stopping() || hosts_.pool().own_hosts()) return std::nullopt;
  for (auto& [trial, attempt] : attempts_) {
    if (!attempt.waits || attempt.moves) continue;
    std::set<std::uint32_t> avoid = hosts_.MovedFrom(trial);
    avoid.insert(attempt.hosts.begin(), attempt.hosts.end());
    HostPool without = hosts_.pool();
    without.Give(attempt.needs, attempt.hosts);
    if (!without.Place(attempt.needs, avoid)) continue;
    attempt.moves = true;
    hosts_.SetMovedFrom(trial, std::move(avoid));
    return trial;
  }
  return std::nullopt;
}

void RunningTrials::Recalled(TrialNumber trial, const MetricValues& report) {
  const auto found = attempts_.find(trial);
  if (found != attempts_.end()) rules_.Recall(found->second.progress, report);
}

StopRules::Outcome RunningTrials::Reported(TrialNumber trial, const MetricValues& report) {
  const auto found = attempts_.find(trial);
  if (found == attempts_.end()) return {};
  StopRules::Outcome outcome = rules_.Take(trial, found->second.number, found->second.progress, report);
  for (const SweepEntry& entry : outcome.entries) {
    if (!record_.Record(entry)) return {};
  }
  return outcome;
}

}  // namespace muster
