#include "run/report/failure_fingerprint.h"

#include <algorithm>
#include <csignal>
#include <utility>

#include <fmt/format.h>

#include "base/values/abnormal_exit.h"
#include "base/values/fingerprint.h"
#include "base/values/quoting.h"
#include "base/values/text_parts.h"
#include "base/values/utf8_text.h"
#include "metrics/metric_history.h"
#include "run/report/metrics_report.h"

namespace muster {
namespace {

constexpr std::size_t kFingerprintLines = 200;  // of a log, in which a traceback is looked for

bool IsHexDigit(char c) { return IsDigit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F'); }

// "File \"/x/train.py\", line 3, in step" -> "train.py: step"; empty if it is no frame.
std::string FrameIn(std::string_view line) {
  constexpr std::string_view kFile = "File \"";
  constexpr std::string_view kLine = "\", line ";
  constexpr std::string_view kIn = ", in ";
  const std::size_t file = line.find(kFile);
  const std::size_t end = file == std::string_view::npos ? file : line.find(kLine, file + kFile.size());
  if (end == std::string_view::npos) return {};
  std::string_view path = line.substr(file + kFile.size(), end - file - kFile.size());
  path.remove_prefix(path.rfind('/') + 1);
  const std::size_t in = line.find(kIn, end);
  const std::string_view function = in == std::string_view::npos ? std::string_view() : line.substr(in + kIn.size());
  return SameText(std::string(path) + (function.empty() ? "" : ": " + std::string(function)));
}

// The last frame above the end of the lines; of faulthandler, which prints the innermost one first, the first.
std::string FrameOf(const std::vector<std::string>& lines) {
  const auto fatal = std::find_if(lines.begin(), lines.end(), [](const std::string& line) {
    return line.find("(most recent call first)") != std::string::npos;
  });
  for (auto line = fatal; line != lines.end(); ++line) {
    if (std::string frame = FrameIn(*line); !frame.empty()) return frame;
  }
  for (auto line = lines.rbegin(); line != lines.rend(); ++line) {
    if (std::string frame = FrameIn(*line); !frame.empty()) return frame;
  }
  return {};
}

bool MentionsAny(std::string_view text, std::initializer_list<std::string_view> words) {
  return std::any_of(words.begin(), words.end(),
                     [&](std::string_view word) { return text.find(word) != std::string_view::npos; });
}

// What a message says about the reason, whatever the process died of.
std::optional<FailureClass> ClassIn(std::string_view message) {
  if (MentionsAny(message,
                  {"OutOfMemoryError", "out of memory", "MemoryError", "std::bad_alloc", "Cannot allocate memory"}))
    return FailureClass::kMemory;
  if (MentionsAny(message, {"No space left on device", "Disk quota exceeded"})) return FailureClass::kDisk;
  if (MentionsAny(message, {"Address already in use", "EADDRINUSE"})) return FailureClass::kPort;
  return std::nullopt;
}

bool IsCrash(std::int32_t signal) {
  return signal == SIGSEGV || signal == SIGBUS || signal == SIGFPE || signal == SIGILL || signal == SIGABRT ||
         signal == SIGTRAP || signal == SIGSYS;
}

std::string LastText(const std::vector<std::string>& lines) {
  for (auto line = lines.rbegin(); line != lines.rend(); ++line) {
    if (!Trimmed(*line).empty()) return *line;
  }
  return {};
}

}  // namespace

std::string SameText(std::string_view text) {
  constexpr std::size_t kHash = 8;  // digits of a word that is a hash if one of them is a number
  constexpr std::size_t kMaxRead = 2'000;
  std::string same;
  text = text.substr(0, kMaxRead);
  for (std::size_t at = 0; at < text.size();) {
    const char c = text[at];
    if (c == ' ' || c == '\t' || c == '\n' || c == '\r') {
      if (!same.empty() && same.back() != ' ') same += ' ';
      ++at;
      continue;
    }
    const bool begins = at == 0 || !IsLetterOrDigit(text[at - 1]);
    std::size_t end = at;
    if (begins && text.substr(at).starts_with("0x")) {
      end = at + 2;
      while (end < text.size() && IsHexDigit(text[end])) ++end;
    } else if (begins && IsHexDigit(c)) {
      while (end < text.size() && IsHexDigit(text[end])) ++end;
      const std::string_view word = text.substr(at, end - at);
      const bool is_hash = word.size() >= kHash && std::any_of(word.begin(), word.end(), IsDigit) &&
                           (end == text.size() || !IsLetterOrDigit(text[end]));
      if (!is_hash) end = at;
    }
    if (end == at && IsDigit(c)) {
      while (end < text.size() && IsDigit(text[end])) ++end;
    }
    if (end == at) {
      same += c;
      ++at;
      continue;
    }
    // "1.5e-7", "10:02:33" and "3/8" are one number: what is between their digits does not matter.
    if (same.ends_with("#e-") || same.ends_with("#e+")) {
      same.resize(same.size() - 2);
    } else if (same.size() >= 2 && same[same.size() - 2] == '#' &&
               MentionsAny(".:/-+,e", {std::string_view(&same.back(), 1)})) {
      same.pop_back();
    } else if (same.empty() || same.back() != '#') {
      same += '#';
    }
    at = end;
  }
  while (!same.empty() && same.back() == ' ') same.pop_back();
  return std::string(Utf8Prefix(Printable(same), kMaxFingerprintText));
}

std::string FailureFingerprint::Id() const {
  constexpr std::size_t kDigits = 16;
  std::string text(FailureClassName(of));
  for (const std::string* part : {&how, &frame, &line}) text += '\n' + *part;
  return Sha256Hex(text).substr(0, kDigits);
}

std::string FailureFingerprint::Text() const {
  std::string text(FailureClassName(of));
  if (!how.empty()) text += " (" + how + ")";
  if (!frame.empty()) text += " at " + frame;
  if (!line.empty()) text += ": " + line;
  return text;
}

FailureFingerprint FingerprintOf(const FailureSigns& signs) {
  FailureFingerprint made;
  if (signs.host_lost) {
    made.of = FailureClass::kHost;
    return made;
  }
  if (signs.spawn_failed) {
    made.of = FailureClass::kSpawn;
    made.how = SameText(signs.spawn_failed->stage);
    made.line = SameText(signs.spawn_failed->detail);
    return made;
  }
  if (!signs.limit.empty()) {
    made.of = signs.limit == "time"    ? FailureClass::kTime
              : signs.limit == "ready" ? FailureClass::kUnready
                                       : FailureClass::kSilent;
    made.how = SameText(signs.limit);
    return made;  // what it had written before differs from time to time
  }
  const bool noted = signs.note && signs.note->unreadable.empty() && !signs.note->message.empty();
  std::string message =
      noted ? signs.note->message.substr(0, signs.note->message.find('\n')) : FailureHint(signs.lines);
  made.frame = FrameOf(noted && !signs.note->traceback.empty() ? signs.note->traceback : signs.lines);
  const bool stated = !message.empty();
  if (!stated) {
    made.frame.clear();
    message = LastText(signs.lines);
  }
  made.line = SameText(message);
  const auto seen = [&](std::string_view kind) {
    return std::find(signs.evidence.begin(), signs.evidence.end(), kind) != signs.evidence.end();
  };
  std::int32_t code = 0;
  if (signs.exited) {
    code = signs.exited->code;
    made.how = signs.exited->signalled ? SignalName(code) : fmt::format("code {}", code);
  }
  const bool signalled = signs.exited && signs.exited->signalled;
  if (seen("memory")) {
    made.of = FailureClass::kMemory;
  } else if (seen("disk")) {
    made.of = FailureClass::kDisk;
  } else if (seen("port")) {
    made.of = FailureClass::kPort;
  } else if (const auto said = ClassIn(message)) {
    made.of = *said;
  } else if ((signalled && IsCrash(code)) || MentionsAny(message, {"Sanitizer: ", "Fatal Python error: "})) {
    made.of = FailureClass::kCrash;
  } else if (signalled) {
    made.of = FailureClass::kKilled;
  } else if (stated) {
    made.of = FailureClass::kException;
  } else if (code == 0 && !signs.ready) {
    made.of = FailureClass::kUnready;
  }
  return made;
}

void ReadOutput(const Plan& plan, int run_dir, ProcessId process, std::uint32_t attempt, FailureSigns& signs) {
  signs.note = ReadErrorNote(run_dir, plan, process, attempt);
  signs.lines = LastLines(run_dir, LogPath(plan, process, attempt), kFingerprintLines);
}

std::optional<double> LastStep(const Plan& plan, int run_dir, ProcessId process, std::uint32_t attempt) {
  const auto last = NewestReport(run_dir, MetricsPath(plan, process, attempt));
  const std::string metric = last ? StepMetric(*last) : std::string();
  return metric.empty() ? std::nullopt : FiniteNumber(last->at(metric));
}

namespace {

RecordedFailure FailureAt(const Plan& plan, const RunHistory& history, int run_dir, ProcessId process,
                          std::uint32_t number) {
  RecordedFailure failure;
  failure.process = process;
  failure.attempt = number;
  const AttemptHistory& attempt = history.attempts[process][number];
  failure.machine = attempt.machine;
  failure.host = history.MachineName(attempt.machine);
  const Readiness::Kind kind = plan.roles[plan.processes[process].role].ready.kind;
  const bool has_readiness = kind != Readiness::Kind::kStarted && kind != Readiness::Kind::kDone;
  failure.ready = attempt.started && (attempt.ready || !has_readiness);
  const auto machine = history.machines.find(attempt.machine);
  FailureSigns signs;
  signs.exited = attempt.exited;
  signs.spawn_failed = attempt.spawn_failed;
  if (!attempt.limits.empty()) signs.limit = attempt.limits.back().limit;
  signs.host_lost =
      !attempt.Ended() && attempt.ordered && machine != history.machines.end() && machine->second.lost.has_value();
  signs.ready = failure.ready;
  for (const EndEvidence& evidence : attempt.evidence) signs.evidence.push_back(evidence.kind);
  if (attempt.started) {
    ReadOutput(plan, run_dir, process, number, signs);
    failure.step = LastStep(plan, run_dir, process, number);
  }
  failure.fingerprint = FingerprintOf(signs);
  return failure;
}

// The last fault before the failure, whose record was written at `at`, that hit the same process or host, and lasted.
std::string FaultBefore(const Plan& plan, const RunHistory& history, const RecordedFailure& failure, MonotonicNs at) {
  std::string found;
  for (const Recorded<FaultInjected>& fault : history.faults) {
    const bool over = fault.lasts_ms > 0 && at > fault.on_head + fault.lasts_ms * 1'000'000;
    if (fault.on_head > at || over) continue;
    const bool hit = fault.process.empty() ? fault.machine == failure.machine
                                           : failure.process && fault.attempt == failure.attempt &&
                                                 fault.process == ProcessName(plan, plan.processes[*failure.process]);
    if (hit) found = FaultText(fault);
  }
  return found;
}

}  // namespace

std::vector<RecordedFailure> FailuresOfRun(const Plan& plan, const RunHistory& history, int run_dir) {
  struct Failed {
    ProcessId process;
    std::uint32_t attempt;
    const RecordMark* mark;
    bool ended_run;
  };
  std::vector<Failed> failed;
  for (const Recorded<RestartPlanned>& restart : history.restarts) {
    if (restart.attempt < history.attempts[restart.process].size()) {
      failed.push_back({restart.process, restart.attempt, &restart, false});
    }
  }
  if (history.first_failure && history.origin &&
      history.origin->attempt < history.attempts[history.origin->process].size()) {
    const Recorded<FirstFailure>& first = *history.first_failure;
    failed.push_back({history.origin->process, history.origin->attempt, &first, true});
  }
  std::sort(failed.begin(), failed.end(), [](const Failed& a, const Failed& b) { return a.mark->seq < b.mark->seq; });
  if (failed.size() > kMaxRecordedFailures) failed.erase(failed.begin(), failed.end() - kMaxRecordedFailures);
  std::vector<RecordedFailure> failures;
  for (const Failed& each : failed) {
    failures.push_back(FailureAt(plan, history, run_dir, each.process, each.attempt));
    failures.back().at = each.mark->wall;
    failures.back().ended_run = each.ended_run;
    failures.back().fault = FaultBefore(plan, history, failures.back(), each.mark->on_head);
    for (const Recorded<FailureJudged>& judged : history.judged) {
      if (judged.process == each.process && judged.attempt == each.attempt) failures.back().judged = judged;
    }
  }
  if (history.ended && history.ended->cause == Cause::kLost && !history.origin) {
    for (const auto& [number, machine] : history.machines) {
      const bool replaced = std::any_of(history.replacements.begin(), history.replacements.end(),
                                        [n = number](const ReplacementHistory& one) { return one.machine == n; });
      if (!machine.lost || replaced || failures.size() == kMaxRecordedFailures) continue;
      RecordedFailure failure;
      failure.fingerprint.of = FailureClass::kHost;
      failure.machine = number;
      failure.host = history.MachineName(number);
      failure.at = machine.lost->wall;
      failure.ended_run = true;
      failure.fault = FaultBefore(plan, history, failure, machine.lost->on_head);
      failures.push_back(std::move(failure));
    }
  }
  return failures;
}

}  // namespace muster
