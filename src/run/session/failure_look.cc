#include "run/session/failure_look.h"

#include <algorithm>
#include <string_view>
#include <variant>

#include <fmt/format.h>

#include "base/values/number_text.h"
#include "base/values/overloaded.h"
#include "run/directory/checkpoints.h"
#include "run/report/failure_fingerprint.h"
#include "run/session/live_run.h"
#include "run/session/run_checkpoints.h"
#include "run/supervise/run_process_table.h"

namespace muster {

void FailureLook::Saw(const Event& event) {
  std::visit(
      Overloaded{
          [&](const ProcessStarted& e) { evidence_.erase(e.process); },
          [&](const EndEvidence& e) { evidence_[e.process].push_back(e); },
          [&](const PortTaken& e) {
            evidence_[e.process].push_back({e.process, e.attempt, "port", {}, e.at});
          },
          [&](const SpawnFailed& e) { spawn_failed_ = e; }, [](const auto&) {},  // nothing else is a sign of a failure
      },
      event);
}

FailureTraits FailureLook::Look(const AskedFailure& failure) {
  const auto& [process, attempt] = failure.who;
  FailureTraits traits;
  FailureSigns signs;
  signs.host_lost = failure.end.kind == HowEnded::Kind::kLost;
  signs.limit = failure.end.limit;
  if (failure.end.kind == HowEnded::Kind::kNotStarted && spawn_failed_ && spawn_failed_->process == process) {
    signs.spawn_failed = spawn_failed_;
  } else if (failure.end.kind == HowEnded::Kind::kExited || failure.end.kind == HowEnded::Kind::kSignalled) {
    signs.exited.emplace();
    signs.exited->signalled = failure.end.kind == HowEnded::Kind::kSignalled;
    signs.exited->code = failure.end.code;
  }
  if (const auto found = evidence_.find(process); found != evidence_.end()) {
    for (const EndEvidence& evidence : found->second) {
      if (evidence.attempt == attempt) signs.evidence.push_back(evidence.kind);
    }
  }
  if (const auto newest = checkpoints_.Newest()) {
    traits.checkpoint = newest->path;
    // One that is written over in its place is a newer one.
    traits.checkpoint_at = newest->modified_ns;
  }
  const MonotonicNs began = processes_.BeganAt(process, attempt);
  if (began != 0) {
    ReadOutput(run_.plan, run_.directory->folder(), process, attempt, signs);
    traits.step = StepAt(failure.who);
    if (!traits.step) traits.step = StepAtCheckpoint(process, traits);
    if (traits.step) last_ = {process, *traits.step};
  }
  const bool long_enough = began != 0 && run_.clock->Monotonic() - began >= kReadyAfter;
  traits.ready = failure.ready.value_or(traits.step || long_enough);
  signs.ready = traits.ready;
  const FailureFingerprint fingerprint = FingerprintOf(signs);
  traits.failure_class = FailureClassName(fingerprint.of);
  traits.fingerprint = fingerprint.Id();
  traits.what = fingerprint.Text();
  return traits;
}

// Checkpoints are named by their step: "step_40.pt", "iter_0000040", "checkpoint-40".
std::optional<double> FailureLook::StepAtCheckpoint(ProcessId process, const FailureTraits& traits) const {
  if (!last_) return std::nullopt;
  const RestartPolicy& policy = run_.plan.roles[run_.plan.processes[process].role].restart;
  if (policy.scope == RestartPolicy::Scope::kProcess && last_->process != process) return std::nullopt;
  std::string_view name = traits.checkpoint;
  name.remove_prefix(std::min(name.size(), name.rfind('/') + 1));
  const std::size_t end = name.find_last_of("0123456789");
  if (end == std::string_view::npos) return std::nullopt;
  name = name.substr(0, end + 1);
  name.remove_prefix(std::min(name.size(), name.find_last_not_of("0123456789") + 1));
  const auto step = ParseNumber<std::uint64_t>(name);
  return step && static_cast<double>(*step) == last_->step ? std::optional(last_->step) : std::nullopt;
}

std::optional<double> FailureLook::StepAt(const ProcessAttempt& who) const {
  const int folder = run_.directory->folder();
  if (const auto own = LastStep(run_.plan, folder, who.process, who.attempt)) return own;
  const Role& role = run_.plan.roles[run_.plan.processes[who.process].role];
  if (role.restart.scope == RestartPolicy::Scope::kProcess && role.restart.max > 0) return std::nullopt;
  std::optional<std::uint32_t> seen;  // the role whose first process was looked at
  for (ProcessId other = 0; other < run_.plan.processes.size(); ++other) {
    if (seen == run_.plan.processes[other].role) continue;
    seen = run_.plan.processes[other].role;
    if (const auto step = LastStep(run_.plan, folder, other, run_.supervisor.attempt(other))) return step;
  }
  return std::nullopt;
}

}  // namespace muster
