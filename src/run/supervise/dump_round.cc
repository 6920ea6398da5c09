#include "run/supervise/dump_round.h"

#include <algorithm>
#include <cstddef>
#include <string>
#include <utility>

#include "base/values/abnormal_exit.h"
#include "run/supervise/orders.h"
#include "run/supervise/process_states.h"

namespace muster {

bool CheckpointRound::Begin(const Plan& plan, ProcessStates& states, Orders& orders) {
  std::vector<std::vector<ProcessId>> by_role(plan.roles.size());
  for (ProcessId process = 0; process < states.count(); ++process) {
    const std::uint32_t role = plan.processes[process].role;
    if (plan.roles[role].stop.checkpoint_signal.empty() || states.state(process) != ProcessState::kRunning) continue;
    states.Apply(process, ProcessInput::kStop);
    by_role[role].push_back(process);
    asked_.push_back(process);
  }
  if (asked_.empty()) return false;
  std::uint32_t longest_ms = 0;
  std::uint32_t least_ms = UINT32_MAX;
  for (std::size_t role = 0; role < by_role.size(); ++role) {
    if (by_role[role].empty()) continue;
    const StopPolicy& policy = plan.roles[role].stop;
    const std::uint32_t grace_ms = policy.checkpoint_ms + policy.grace_ms + kStopMarginMs;
    longest_ms = std::max(longest_ms, grace_ms);
    least_ms = std::min(least_ms, policy.checkpoint_ms);
    orders.Add(StopOrdered{std::move(by_role[role]), SignalNumber(policy.checkpoint_signal).value_or(0), grace_ms});
  }
  orders.ArmIn(kStopTimer, std::uint64_t{longest_ms} + kStopMarginMs);
  orders.ArmIn(kCheckpointTimer, least_ms);
  return true;
}

void CheckpointRound::Finish(const Plan& plan, ProcessStates& states, Orders& orders) {
  const std::vector<ProcessId> asked = std::exchange(asked_, {});
  orders.Disarm(kCheckpointTimer);
  std::vector<ProcessId> to_stop;
  for (ProcessId process = 0; process < states.count(); ++process) {
    const bool waits =
        states.state(process) == ProcessState::kStopping && std::binary_search(asked.begin(), asked.end(), process);
    if (states.Apply(process, ProcessInput::kStop) == ProcessEffect::kSignal || waits) to_stop.push_back(process);
  }
  OrderStops(plan, to_stop, false, states.left() > 0, orders);
}

void CheckpointRound::Cancel(Orders& orders) {
  asked_.clear();
  orders.Disarm(kCheckpointTimer);
}

void DumpRound::Begin(std::string_view why, const std::vector<bool>& over, Orders& orders) {
  if (under_way_) return;
  under_way_ = true;
  waiting_ = {};
  places_.clear();
  due_ = over;
  due_.flip();
  left_ = static_cast<std::uint32_t>(std::count(due_.begin(), due_.end(), true));
  orders.Add(DumpOrdered{++number_, std::string(why)});
  orders.ArmIn(kDumpTimer, kDumpMs + kDumpMarginMs);
}

void DumpRound::DelaySilence(const SilenceWatch::Silent& silent, std::uint32_t attempt) {
  if (waiting_.silent) return;
  waiting_.silent = silent;
  waiting_.silent_attempt = attempt;
}

void DumpRound::Reported(const ProcessDumped& reported) {
  if (under_way_ && reported.dump == number_) places_[reported.process] = {reported.attempt, PlaceIn(reported)};
}

std::optional<ProcessId> DumpRound::HeldUpBy(const SilenceScope& scope, const Plan& plan,
                                             const ProcessStates& states) const {
  std::vector<ProcessId> running;
  std::vector<PlacedProcess> placed;
  for (ProcessId process = 0; process < states.count(); ++process) {
    const std::uint32_t role = plan.processes[process].role;
    if (states.state(process) != ProcessState::kRunning || (scope.role && role != *scope.role)) continue;
    const auto reported = places_.find(process);
    const bool known = reported != places_.end() && reported->second.first == states.attempt(process);
    running.push_back(process);
    placed.push_back({role, known ? std::optional(reported->second.second) : std::nullopt});
  }
  const ComparedPlaces places = ComparePlaces(placed);
  std::optional<ProcessId> first;
  const auto elsewhere = [&](std::size_t i) { return plan.processes[running[i]].host != plan.processes[*first].host; };
  for (std::size_t i = 0; i < running.size(); ++i) {
    if (!places.outlier[i]) continue;
    if (!first) first = running[i];
    if (elsewhere(i)) return std::nullopt;
  }
  if (!first) return std::nullopt;
  for (std::size_t i = 0; i < running.size(); ++i) {
    if (elsewhere(i) && !placed[i].place) return std::nullopt;
  }
  return first;
}

bool DumpRound::Answered(std::uint32_t machine, std::uint32_t dump) {
  // Later answers are in the journal, but change nothing.
  if (!under_way_ || dump != number_ || machine >= due_.size() || !due_[machine]) return false;
  due_[machine] = false;
  return --left_ == 0;
}

DumpRound::Waiting DumpRound::End(bool complete, Orders& orders) {
  under_way_ = false;
  orders.Disarm(kDumpTimer);
  orders.Add(DumpEnded{number_, complete});
  return std::exchange(waiting_, {});
}

}  // namespace muster
