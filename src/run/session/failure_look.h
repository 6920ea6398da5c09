// What the output and the files of a job show about a failure, for the verdict on it: its fingerprint, its step and the
// newest checkpoint. Reads files of the run directory when the supervisor asks.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "muster/event.h"
#include "run/supervise/verdict.h"

namespace muster {

class RunCheckpoints;
class RunProcessTable;
struct LiveRun;

class FailureLook final : public FailureSource {
 public:
  // A process without a readiness condition counts as ready once it has run for so long, or has reported a step.
  static constexpr MonotonicNs kReadyAfter = 60'000'000'000;

  FailureLook(const LiveRun& run, const RunCheckpoints& checkpoints, const RunProcessTable& processes)
      : run_(run), checkpoints_(checkpoints), processes_(processes) {}

  // Must be called for every event, before the supervisor handles it.
  void Saw(const Event& event);
  FailureTraits Look(const AskedFailure& failure) override;

 private:
  // The last step that the attempt reported; of a process that reports none, that of another one of the job in its
  // current attempt.
  std::optional<double> StepAt(const ProcessAttempt& who) const;

  // Where the last failure was whose step is known.
  struct Position {
    ProcessId process = 0;
    double step = 0;
  };
  // An attempt that reports no step has begun at the newest checkpoint: the step of the last failure if the checkpoint
  // is of that step. It may have been completed after that failure.
  std::optional<double> StepAtCheckpoint(ProcessId process, const FailureTraits& traits) const;

  const LiveRun& run_;
  const RunCheckpoints& checkpoints_;
  const RunProcessTable& processes_;
  std::optional<Position> last_;
  std::map<ProcessId, std::vector<EndEvidence>> evidence_;
  std::optional<SpawnFailed> spawn_failed_;  // the last one
};

}  // namespace muster
