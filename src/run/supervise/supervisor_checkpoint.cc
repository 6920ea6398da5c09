// The part of the supervisor that gives processes the time to write a checkpoint before they are stopped. Whether there
// is a new one, the session sees.
#include <algorithm>
#include <utility>

#include "base/values/signal_name.h"
#include "run/supervise/supervisor.h"

namespace muster {

bool Supervisor::AskCheckpoint(MonotonicNs now) {
  // After a failure the others of a collective checkpoint are gone, or what they hold is doubtful.
  if (cause_ != Cause::kStopped && cause_ != Cause::kTimeLimit) return false;
  std::vector<std::vector<ProcessId>> by_role(plan_.roles.size());
  for (ProcessId process = 0; process < processes_.size(); ++process) {
    if (RoleOf(process).stop.checkpoint_signal.empty()) continue;
    if (processes_[process].state != ProcessState::kRunning) continue;
    ApplyTo(process, ProcessInput::kStop);  // however it ends from here on, it was asked
    by_role[plan_.processes[process].role].push_back(process);
    checkpointing_.push_back(process);
  }
  if (checkpointing_.empty()) return false;
  std::uint32_t longest_ms = 0;
  std::uint32_t least_ms = UINT32_MAX;
  for (std::size_t role = 0; role < by_role.size(); ++role) {
    if (by_role[role].empty()) continue;
    const StopPolicy& policy = plan_.roles[role].stop;
    const std::uint32_t grace_ms = policy.checkpoint_ms + policy.grace_ms + kStopMarginMs;
    longest_ms = std::max(longest_ms, grace_ms);
    least_ms = std::min(least_ms, policy.checkpoint_ms);
    actions_.emplace_back(
        StopOrdered{std::move(by_role[role]), SignalNumber(policy.checkpoint_signal).value_or(0), grace_ms});
  }
  Arm(kStopTimer, now + FromMs(std::uint64_t{longest_ms} + kStopMarginMs));
  Arm(kCheckpointTimer, now + FromMs(least_ms));
  return true;
}

void Supervisor::EndCheckpoint(MonotonicNs now) {
  const std::vector<ProcessId> asked = std::exchange(checkpointing_, {});
  Disarm(kCheckpointTimer);
  std::vector<ProcessId> signalled;
  for (ProcessId process = 0; process < processes_.size(); ++process) {
    const bool waits =
        processes_[process].state == ProcessState::kStopping && std::binary_search(asked.begin(), asked.end(), process);
    if (ApplyTo(process, ProcessInput::kStop) == ProcessEffect::kSignal || waits) signalled.push_back(process);
  }
  OrderStops(signalled, false, now);
}

void Supervisor::CutCheckpoint() {
  checkpointing_.clear();
  Disarm(kCheckpointTimer);
}

}  // namespace muster
