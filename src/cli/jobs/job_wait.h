// Waits until the head of a submitted run begins, while its job is queued.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>

#include "cli/jobs/job_of_run.h"

namespace muster {

struct JobWait {
  // Called with each new state in words, and with each reason why the engine does not answer.
  std::function<void(const std::string& text)> on_state;
  // Called for each SIGINT; empty: the signal ends this program.
  std::function<void()> on_interrupt;
};

enum class WaitEnd : std::uint8_t {
  kBegun,  // a head began in the directory
  kOver,   // the job ended, and none did: `status` says how
};

struct WaitOutcome {
  WaitEnd end = WaitEnd::kBegun;
  JobStatus status;
};

// Waits until a head begins in the directory of the attempt after `known` attempts. An engine that does not answer is
// asked again, for ever.
WaitOutcome AwaitAttempt(const JobOfRun& job, std::size_t known, const JobWait& wait);
// The same for other jobs than those of runs: until `begun` is true.
WaitOutcome AwaitHead(const JobOfRun& job, const std::function<bool()>& begun, const JobWait& wait);

}  // namespace muster
