#include "sweep/trial/trial_class.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <string_view>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>

#include "base/system/private_files.h"
#include "base/values/abnormal_exit.h"
#include "base/values/quoting.h"
#include "base/values/utf8_text.h"
#include "run/directory/process_output.h"
#include "run/journal/run_history.h"

namespace muster {
namespace {

constexpr std::size_t kMaxWords = 200;

// Error messages of frameworks when a device is out of memory.
constexpr std::array<std::string_view, 21> kDeviceMemoryWords = {
    "CUDA out of memory",  // PyTorch
    "HIP out of memory",   // … on ROCm
    "NPU out of memory",   // … on Ascend
    "XPU out of memory",   // … on Intel
    "torch.OutOfMemoryError",
    "torch.cuda.OutOfMemoryError",
    "CUDA error: out of memory",
    "CUDA_ERROR_OUT_OF_MEMORY",
    "cudaErrorMemoryAllocation",
    "hipErrorOutOfMemory",
    "CUBLAS_STATUS_ALLOC_FAILED",
    "RESOURCE_EXHAUSTED: Out of memory",  // JAX, XLA
    "RESOURCE_EXHAUSTED: OOM",
    "OOM when allocating tensor",            // TensorFlow
    "memory isn't enough and alloc failed",  // MindSpore
    "Out of Memory!!! Request memory size",
    "Memory_Allocation_Failure(EL0004)",  // CANN
    "EL0004: Failed to allocate memory",
    "Call rtMalloc fail",
    "rtMalloc failed",
    "aclrtMalloc failed",
};

// Error messages when the host is out of memory.
constexpr std::array<std::string_view, 5> kHostMemoryWords = {"DefaultCPUAllocator: can't allocate memory",
                                                              "std::bad_alloc", "Cannot allocate memory", "MemoryError",
                                                              "oom-kill"};

constexpr std::array<int, 7> kOutsideSignals = {SIGTERM, SIGKILL, SIGUSR1, SIGUSR2, SIGINT, SIGHUP, SIGXCPU};

// Errors of starting a program that are caused by the recipe, on every host.
constexpr std::array<int, 9> kProgramErrors = {ENOENT, EACCES, ENOTDIR, EISDIR,      ENOEXEC,
                                               E2BIG,  ELOOP,  EPERM,   ENAMETOOLONG};

template <class Range, class T>
bool Has(const Range& range, const T& value) {
  return std::find(std::begin(range), std::end(range), value) != std::end(range);
}

// The last line that contains one of the words.
template <std::size_t N>
std::optional<std::string> LineWith(const std::vector<std::string>& lines,
                                    const std::array<std::string_view, N>& words) {
  for (auto line = lines.rbegin(); line != lines.rend(); ++line) {
    for (const std::string_view word : words) {
      if (line->find(word) != std::string::npos) return *line;
    }
  }
  return std::nullopt;
}

std::string Words(std::string_view text) {
  while (text.starts_with(' ') || text.starts_with('\t')) text.remove_prefix(1);
  std::string words = Printable(Utf8Prefix(text, kMaxWords));
  return text.size() > kMaxWords ? words + "…" : words;
}

// The signal that ended it, or that a shell reports for its command (128 + n); 0: none.
int SignalOf(const ProcessExited& exit) {
  if (exit.signalled) return exit.code;
  constexpr int kByShell = 128;
  return exit.code > kByShell && Has(kOutsideSignals, exit.code - kByShell) ? exit.code - kByShell : 0;
}

struct Verdict {
  TrialClass trial_class;
  bool host_to_blame;
  std::string words;  // appended to the run's own reason
};

Verdict OfSpawn(const SpawnFailed& spawn) {
  if (spawn.stage == "binding") return {TrialClass::kUserError, false, {}};
  if ((spawn.stage == "exec" || spawn.stage == "directory") && Has(kProgramErrors, spawn.error)) {
    return {TrialClass::kUserError, false, {}};
  }
  return {TrialClass::kHostLost, true, {}};
}

Verdict OfExit(const ProcessExited& exit, const FailureFacts::Origin& origin) {
  for (const EndEvidence& evidence : origin.evidence) {
    if (evidence.kind == "memory") return {TrialClass::kOomHost, false, Words(evidence.detail)};
  }
  if (auto line = LineWith(origin.last_lines, kDeviceMemoryWords)) return {TrialClass::kOomDevice, false, Words(*line)};
  const int signal = SignalOf(exit);
  if (signal != 0 && Has(kOutsideSignals, signal)) {
    return {TrialClass::kPreempted, false, fmt::format("{} came from outside", SignalName(signal))};
  }
  if (auto line = LineWith(origin.last_lines, kHostMemoryWords)) return {TrialClass::kOomHost, false, Words(*line)};
  for (const EndEvidence& evidence : origin.evidence) {
    if (evidence.kind == "disk") return {TrialClass::kCrash, true, Words(evidence.detail)};
  }
  // 2: programs that refuse their arguments; 126 and 127: shells that cannot start a program.
  if (!exit.signalled && (exit.code == 2 || exit.code == 126 || exit.code == 127)) {
    return {TrialClass::kUserError, false, FailureHint(origin.last_lines)};
  }
  return {TrialClass::kCrash, false, FailureHint(origin.last_lines)};
}

Verdict OfOrigin(const FailureFacts::Origin& origin, const ClassPatterns& patterns) {
  if (auto match = patterns.Find(origin.last_lines)) return {match->trial_class, false, Words(match->line)};
  if (origin.limit) {
    const bool silent = origin.limit->limit == "silent" || origin.limit->limit == "silent_job";
    return {silent ? TrialClass::kStalled : TrialClass::kTimeout, false, {}};
  }
  if (origin.spawn) return OfSpawn(*origin.spawn);
  if (origin.exit) return OfExit(*origin.exit, origin);
  return {TrialClass::kCrash, false, {}};
}

// What ended the job ended the trial, whatever its processes and agents made of it. A lost node is known better from
// the agents.
std::optional<TrialClass> ClassOfJobEnd(std::optional<JobState> end) {
  if (end == JobState::kCancelled || end == JobState::kPreempted) return TrialClass::kPreempted;
  if (end == JobState::kTimeLimit) return TrialClass::kTimeout;
  return std::nullopt;
}

Verdict Of(const FailureFacts& facts, const ClassPatterns& patterns) {
  const bool failed = facts.cause != Cause::kNone && (facts.cause != Cause::kStopped || facts.stopped_by_engine);
  if (const auto of_job = ClassOfJobEnd(facts.job_end); failed && of_job) return {*of_job, false, {}};
  switch (facts.cause) {
    case Cause::kNone:
      return {TrialClass::kOk, false, {}};
    case Cause::kStopped:
      return {facts.stopped_by_engine ? TrialClass::kPreempted : TrialClass::kStopped, false, {}};
    case Cause::kTimeLimit:
      return {TrialClass::kTimeout, false, {}};
    case Cause::kLost:
    case Cause::kUnready:
    case Cause::kOverdue:
      return {TrialClass::kHostLost, true, {}};
    case Cause::kFailed:
    case Cause::kSpawn:
      break;
  }
  if (facts.origin) return OfOrigin(*facts.origin, patterns);
  return {facts.cause == Cause::kSpawn ? TrialClass::kHostLost : TrialClass::kCrash, false, {}};
}

}  // namespace

Result<ClassPatterns> ClassPatterns::Of(const std::map<TrialClass, std::string>& patterns, const Place& place) {
  ClassPatterns made;
  Diagnostics problems;
  for (const auto& [trial_class, text] : patterns) {
    const std::string name(TrialClassName(trial_class));
    if (!IsFailure(trial_class)) {
      problems.push_back(Error("pattern", place, name + " is not a failure, so it has no patterns"));
      continue;
    }
    auto pattern = LinePattern::Of(text, "the class " + name, place);
    if (pattern) {
      made.patterns_.emplace(trial_class, *std::move(pattern));
    } else {
      problems.insert(problems.end(), pattern.error().begin(), pattern.error().end());
    }
  }
  if (!problems.empty()) return Fail(std::move(problems));
  return made;
}

std::optional<ClassPatterns::Match> ClassPatterns::Find(const std::vector<std::string>& lines) const {
  for (auto line = lines.rbegin(); line != lines.rend(); ++line) {
    for (const auto& [trial_class, pattern] : patterns_) {
      if (pattern.Matches(*line)) return Match{trial_class, *line};
    }
  }
  return std::nullopt;
}

TrialEnding ClassOf(const FailureFacts& facts, const ClassPatterns& patterns, const std::vector<std::string>& hosts) {
  const Verdict verdict = Of(facts, patterns);
  TrialEnding ending{verdict.trial_class, {}, {}};
  if (verdict.trial_class == TrialClass::kOk) return ending;
  ending.why = facts.why.empty() ? "the run ended without a reason" : facts.why;
  ending.judged = facts.judged;
  if (!verdict.words.empty()) ending.why += ": " + verdict.words;
  if (!verdict.host_to_blame) return ending;
  std::optional<std::uint32_t> machine = facts.lost;
  if (!machine && facts.origin) machine = facts.origin->machine;
  if (!machine && hosts.size() == 1) machine = 0;  // whatever it was, it happened there
  if (machine && *machine < hosts.size()) ending.blamed = hosts[*machine];
  return ending;
}

FailureFacts ReadFailureFacts(const Plan& plan, const RunOutcome& outcome) {
  FailureFacts facts;
  facts.why = outcome.why;
  facts.job_end = outcome.job_end;
  facts.stopped_by_engine = outcome.stopped_by_engine;
  const RunHistory history = ReadHistory(plan, outcome.run_dir);
  std::uint64_t lost_at = 0;  // the record of the first loss
  for (const auto& [number, machine] : history.machines) {
    if (!machine.lost || (facts.lost && machine.lost->seq > lost_at)) continue;
    facts.lost = number;
    lost_at = machine.lost->seq;
  }
  facts.cause = history.ended                  ? history.ended->cause
                : outcome.outcome == "ok"      ? Cause::kNone
                : outcome.outcome == "stopped" ? Cause::kStopped
                : outcome.outcome == "lost"    ? Cause::kLost
                                               : Cause::kFailed;
  if (!history.judged.empty()) facts.judged = history.judged.back();
  if (!history.origin) return facts;
  const auto& [process, number] = *history.origin;
  const AttemptHistory& attempt = history.attempts[process][number];
  facts.origin = FailureFacts::Origin{attempt.machine, attempt.exited, attempt.spawn_failed, {}, attempt.evidence, {}};
  if (!attempt.limits.empty()) facts.origin->limit = attempt.limits.back();
  if (facts.origin->spawn) return facts;
  const Result<UniqueFd> folder = OpenFolder(AT_FDCWD, outcome.run_dir);
  if (folder) facts.origin->last_lines = LastLines(folder->get(), LogPath(plan, process, number));
  return facts;
}

TrialEnding ClassOfRun(const Plan& plan, const RunOutcome& outcome, const ClassPatterns& patterns,
                       const std::vector<std::string>& hosts) {
  if (outcome.outcome == "ok") return {};
  return ClassOf(ReadFailureFacts(plan, outcome), patterns, hosts);
}

}  // namespace muster
