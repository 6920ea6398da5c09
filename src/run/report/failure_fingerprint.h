// Fingerprints of the failures that restarted or ended a run: texts that are the same for the same failure on another
// host, in another attempt or at another time, and where and at which step it happened.
//
// Made from the history and from what processes wrote, which is not trusted: sizes are bounded, and texts are safe for
// a terminal.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "muster/event.h"
#include "muster/plan.h"
#include "run/directory/process_output.h"
#include "run/journal/failure_class.h"
#include "run/journal/head_facts.h"
#include "run/journal/run_history.h"

namespace muster {

inline constexpr std::size_t kMaxFingerprintText = 200;
inline constexpr std::size_t kMaxRecordedFailures = 100;

struct FailureFingerprint {
  FailureClass of = FailureClass::kExit;
  std::string how;    // "code 3", "SIGSEGV", "silent_job"; may be empty
  std::string frame;  // the innermost one of a traceback, "train.py: step"; may be empty
  std::string line;   // of the exception, or the last one that it wrote, as SameText has it; may be empty

  // 16 hex digits: the same for the same failure.
  std::string Id() const;
  // "exception at train.py: step: RuntimeError: shapes do not fit"
  std::string Text() const;

  bool operator==(const FailureFingerprint&) const = default;
};

// A failure of a run. Of a lost host without a process that was running there, `process` is empty.
struct RecordedFailure {
  FailureFingerprint fingerprint;
  std::optional<ProcessId> process;
  std::uint32_t attempt = 0;
  std::uint32_t machine = 0;                 // a host of the plan, or a spare
  std::string host;                          // its name
  std::string at;                            // UTC, of its record
  std::optional<double> step = {};           // of its last report; empty without one
  bool ready = false;                        // it had been started, and was ready
  bool ended_run = false;                    // instead of restarting processes
  std::optional<FailureJudged> judged = {};  // the verdict on it; runs of older versions have none
  std::string fault = {};  // of a drill (FaultText), that had hit its process or host and lasted; empty: none

  bool operator==(const RecordedFailure&) const = default;
};

// The text without what differs from time to time: each number, address, hash and date is "#", blanks are one, and at
// most kMaxFingerprintText bytes are kept.
std::string SameText(std::string_view text);

// How one attempt ended, as far as its fingerprint depends on it.
struct FailureSigns {
  std::optional<ProcessExited> exited;
  std::optional<SpawnFailed> spawn_failed;
  std::string limit;  // that it exceeded (LimitPassed)
  bool host_lost = false;
  bool ready = true;
  std::vector<std::string> evidence;  // kinds (EndEvidence)
  std::optional<ErrorNote> note;
  std::vector<std::string> lines;  // its last ones
};
FailureFingerprint FingerprintOf(const FailureSigns& signs);

// Adds what the attempt wrote: its error note and the last lines of its log. `run_dir` is a descriptor.
void ReadOutput(const Plan& plan, int run_dir, ProcessId process, std::uint32_t attempt, FailureSigns& signs);
// The last step that the attempt reported.
std::optional<double> LastStep(const Plan& plan, int run_dir, ProcessId process, std::uint32_t attempt);

// In the order of the journal: of each restart the process that ended, and what ended the run. At most the last
// kMaxRecordedFailures. `run_dir` is a descriptor.
std::vector<RecordedFailure> FailuresOfRun(const Plan& plan, const RunHistory& history, int run_dir);

}  // namespace muster
