#include "run/supervise/verdict.h"

#include <algorithm>

#include <fmt/format.h>

namespace muster {
namespace {

constexpr double kFurther = 1.1;  // steps of a job without checkpoints

// Ends that the program causes, and that a restart repeats if they depend on its input.
const std::vector<std::string> kOfProgram = {"exception", "exit", "crash", "unready", "spawn"};
const std::vector<std::string> kAtAStep = {"exception", "exit", "crash", "memory", "disk"};
// Ends that a broken or slow host can cause.
const std::vector<std::string> kOfHost = {"exception", "exit",   "crash", "killed", "spawn",
                                          "unready",   "silent", "time",  "host"};

// An attempt that fails right after the checkpoint from which it began may have written nothing: then its text is that
// of the other without the last line.
bool DifferByOutput(const FailureJudged& one, const FailureJudged& other) {
  const std::string& shorter = one.what.size() < other.what.size() ? one.what : other.what;
  const std::string& longer = &shorter == &one.what ? other.what : one.what;
  return one.failure_class == other.failure_class && longer.starts_with(shorter + ": ");
}

// Of a process that is restarted alone, failures of others say nothing, except about a host.
bool AreAlike(const FailureJudged& one, const FailureJudged& last, const VerdictRule& rule) {
  if (rule.same_fingerprint && one.fingerprint != last.fingerprint && !(rule.same_step && DifferByOutput(one, last)))
    return false;
  if (rule.same_step && (!last.step || one.step != last.step)) return false;
  if (rule.same_host && (one.host_name != last.host_name || one.host_unclear || last.host_unclear)) return false;
  if (rule.same_shape && one.shape != last.shape) return false;
  return rule.same_host || !last.alone || one.process == last.process;
}

void PutInPlace(std::string& text, std::string_view what, std::string_view by) {
  for (std::size_t at = 0; (at = text.find(what, at)) != std::string::npos; at += by.size())
    text.replace(at, what.size(), by);
}

std::string EvidenceText(const VerdictRule& rule, const FailureJudged& last, std::size_t times) {
  std::string text = rule.because;
  PutInPlace(text, "{times}", fmt::format("{}", times));
  PutInPlace(text, "{step}", last.step ? fmt::format("{:.15g}", *last.step) : "unknown");
  PutInPlace(text, "{class}", last.failure_class);
  PutInPlace(text, "{host}", last.host_name);
  PutInPlace(text, "{what}", last.what);
  return text;
}

bool WasReady(std::span<const FailureJudged> failures) {
  const FailureJudged& last = failures.back();
  return std::any_of(failures.begin(), failures.end(), [&](const FailureJudged& one) {
    return one.ready && (!last.alone || one.process == last.process);
  });
}

bool ConditionsHold(const VerdictRule& rule, std::span<const FailureJudged> failures, bool progress) {
  const FailureJudged& last = failures.back();
  const auto& classes = rule.classes;
  if (rule.verdict == RestartVerdict::kExcludeHost && !last.replaceable) return false;
  if (!classes.empty() && std::find(classes.begin(), classes.end(), last.failure_class) == classes.end()) return false;
  if (last.what.find(rule.mentions) == std::string::npos) return false;
  return (!rule.was_ready || *rule.was_ready == WasReady(failures)) && (!rule.progress || *rule.progress == progress);
}

}  // namespace

const std::vector<VerdictRule>& DefaultVerdictRules() {
  static const std::vector<VerdictRule> kRules = {
      {.name = "same failure elsewhere",
       .verdict = RestartVerdict::kStop,
       .classes = kAtAStep,
       .same_fingerprint = true,
       .same_step = true,
       .times = 2,
       .elsewhere = true,
       .because = "the same failure happened {times} times at step {step}, on different hosts"},
      {.name = "same failure again",
       .verdict = RestartVerdict::kStop,
       .classes = kAtAStep,
       .same_fingerprint = true,
       .same_step = true,
       .times = 2,
       .because = "the same failure happened {times} times at step {step}"},
      {.name = "out of memory again",
       .verdict = RestartVerdict::kStop,
       .classes = {"memory"},
       .same_fingerprint = true,
       .same_shape = true,
       .since_progress = true,
       .times = 2,
       .because = "it ran out of memory {times} times on as many hosts and devices, without progress"},
      {.name = "full disk again",
       .verdict = RestartVerdict::kStop,
       .classes = {"disk"},
       .same_fingerprint = true,
       .since_progress = true,
       .times = 2,
       .because = "a disk was full {times} times, without progress"},
      {.name = "same host again",
       .verdict = RestartVerdict::kExcludeHost,
       .classes = kOfHost,
       .same_host = true,
       .in_a_row = true,
       .times = 2,
       .because = "the last {times} failures happened on {host}, and none on the other hosts"},
      {.name = "progress",
       .verdict = RestartVerdict::kRestart,
       .progress = true,
       .because = "it got further than before"},
      {.name = "not ready again",
       .verdict = RestartVerdict::kStop,
       .classes = kOfProgram,
       .was_ready = false,
       .same_fingerprint = true,
       .since_progress = true,
       .times = 2,
       .because = "it failed {times} times in the same way, and was never ready"},
      {.name = "no progress",
       .verdict = RestartVerdict::kStop,
       .classes = kOfProgram,
       .same_fingerprint = true,
       .since_progress = true,
       .times = 5,
       .because = "the same failure happened {times} times without progress"},
  };
  return kRules;
}

bool GotFurther(std::span<const FailureJudged> failures, std::size_t at) {
  const FailureJudged& last = failures[at];
  const FailureJudged* before = nullptr;
  std::optional<double> furthest;
  for (const FailureJudged& one : failures.first(at)) {
    if (last.alone && one.process != last.process) continue;
    before = &one;
    if (one.step) furthest = std::max(furthest.value_or(*one.step), *one.step);
  }
  if (before == nullptr) return false;
  if (!last.checkpoint.empty()) {
    return last.checkpoint != before->checkpoint || last.checkpoint_at != before->checkpoint_at;
  }
  return last.step && furthest && *last.step > *furthest * kFurther;
}

GivenVerdict GiveVerdict(std::span<const FailureJudged> failures, std::span<const VerdictRule> rules) {
  if (failures.size() > kMaxJudgedFailures) failures = failures.last(kMaxJudgedFailures);
  const FailureJudged& last = failures.back();
  const bool progress = GotFurther(failures, failures.size() - 1);
  std::size_t stuck = failures.size() - 1;  // the first failure since the last progress
  while (stuck > 0 && !GotFurther(failures, stuck)) --stuck;
  for (const VerdictRule& rule : rules) {
    if (!ConditionsHold(rule, failures, progress)) continue;
    std::size_t times = 0;
    bool elsewhere = false;
    for (std::size_t i = failures.size(); i-- > (rule.since_progress ? stuck : 0);) {
      const FailureJudged& one = failures[i];
      const bool says_nothing = rule.same_host && one.host_unclear;
      if (rule.in_a_row && says_nothing && i + 1 < failures.size()) continue;
      if (AreAlike(one, last, rule)) {
        ++times;
        elsewhere = elsewhere || one.host_name != last.host_name;
      } else if (rule.in_a_row) {
        break;
      }
    }
    if (times < rule.times || (rule.elsewhere && !elsewhere)) continue;
    return {rule.verdict, rule.name, EvidenceText(rule, last, times)};
  }
  return {RestartVerdict::kRestart, std::string(kNoVerdictRule), "no rule says that a restart cannot help"};
}

}  // namespace muster
