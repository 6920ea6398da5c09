#include "run/report/report.h"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <map>
#include <set>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "base/system/clock.h"
#include "base/system/file_access.h"
#include "base/system/private_files.h"
#include "base/values/abnormal_exit.h"
#include "base/values/number_text.h"
#include "base/values/quoting.h"
#include "base/values/text_parts.h"
#include "base/values/utf8_text.h"
#include "code/git.h"
#include "plan/plan/roles.h"
#include "run/directory/run_directory.h"
#include "run/directory/run_tags.h"
#include "run/hosts/host_differences.h"
#include "run/journal/run_summary.h"
#include "run/report/context_report.h"
#include "run/start/start_specs.h"
#include "wire/files/log_bytes.h"
#include "wire/files/run_layout.h"

namespace muster {

std::vector<ActivationReport> ReadActivations(const Plan& plan, const RunHistory& history, int folder) {
  std::vector<ActivationReport> activations;
  for (const HostActivated& reported : history.activations) {
    ActivationReport& activation = activations.emplace_back();
    const auto machine = history.machines.find(reported.host);
    const bool known = machine != history.machines.end() && machine->second.agent;
    activation.host = known ? machine->second.agent->host_name : fmt::format("host{}", reported.host);
    activation.seconds = static_cast<double>(reported.took_ms) / 1000;
    for (const auto& [variable, unused] : reported.set) activation.set.push_back(variable);
    activation.unset = reported.unset;
    activation.failed_step = reported.failed_step;
    activation.error = reported.error;
    activation.log = ActivationLogPath(plan, reported.host);
    if (!reported.error.empty()) activation.last_lines = LastLines(folder, activation.log);
  }
  return activations;
}

std::string FailedActivationText(const std::vector<ActivationReport>& activations) {
  std::string text;
  for (const ActivationReport& activation : activations) {
    if (activation.last_lines.empty()) continue;
    text += fmt::format("  last lines of {}:\n", activation.log);
    for (const std::string& line : activation.last_lines) text += fmt::format("    {}\n", Printable(line));
  }
  return text;
}

std::string ActivationText(const std::vector<ActivationReport>& activations) {
  constexpr std::size_t kShown = 4;
  std::string text;
  std::size_t good = 0;
  for (const ActivationReport& activation : activations) {
    if (!activation.error.empty() || ++good > kShown) continue;
    text += fmt::format("  {:<10}{} in {}: {} set, {} removed\n", "activated", Printable(activation.host),
                        DurationText(activation.seconds), activation.set.size(), activation.unset.size());
  }
  if (good > kShown) text += fmt::format("  {:<10}{} more hosts\n", "activated", good - kShown);
  return text;
}

namespace {

constexpr std::size_t kShownDigits = 12;

}  // namespace

std::string GitText(const CodeReport& code) {
  if (!code.seen) return {};
  const CodeSeen& seen = *code.seen;
  std::string text = seen.commit.empty() ? "no commit" : seen.commit.substr(0, 12);
  if (!seen.branch.empty()) text += " on " + seen.branch;
  if (seen.changed + seen.untracked > 0)
    text += fmt::format(", {} changed or untracked", seen.changed + seen.untracked);
  return text;
}

std::string CodeText(const CodeReport& code) {
  std::string text;
  if (code.seen) {
    const GitState state{code.seen->commit, code.seen->branch, code.seen->changed, code.seen->untracked, {}};
    text += fmt::format("  {:<10}{}\n", "code", GitStateText(state));
  }
  if (!code.shipped.empty()) {
    const CodeShipped& first = code.shipped.front();
    std::uint64_t sent = 0;
    for (const CodeShipped& each : code.shipped) sent += each.sent;
    text += fmt::format("  {:<10}{} of {}: {}, {}, to {}{}\n", "shipped", Printable(first.hash.substr(0, kShownDigits)),
                        Printable(first.from), Counted(first.files, "file"), RoughBytes(first.bytes),
                        Counted(code.shipped.size(), "host"),
                        sent == 0 ? ", which had it already" : fmt::format(" ({} sent)", RoughBytes(sent)));
  }
  return text;
}

std::vector<DroppedLog> ReadDroppedLogs(const Plan& plan, const RunHistory& history, int run_dir) {
  std::map<std::uint64_t, DroppedLog> dropped;  // by the record of the start
  for (ProcessId id = 0; id < plan.processes.size(); ++id) {
    const Process& process = plan.processes[id];
    if (plan.roles[process.role].limits.log_bytes == 0) continue;
    for (std::uint32_t attempt = 0; attempt < history.attempts[id].size(); ++attempt) {
      const auto& ordered = history.attempts[id][attempt].ordered;
      if (!ordered) continue;
      const std::string log = LogPath(plan, id, attempt);
      const auto head = ReadLogHead(run_dir, log);
      if (!head || head->kept == 0) continue;
      DroppedLog& entry = dropped[ordered->seq] = {log, head->kept, head->limit, {}};
      const auto& agent = history.machines.at(process.host).agent;
      for (const std::string& name : agent ? agent->mechanisms : std::vector<std::string>()) {
        if (name == "collapse-range" || name == "log-pipe") entry.by = name;
      }
    }
  }
  std::vector<DroppedLog> in_order;
  for (auto& [seq, log] : dropped) in_order.push_back(std::move(log));
  return in_order;
}

std::string DroppedLogsText(const std::vector<DroppedLog>& dropped) {
  if (dropped.empty()) return {};
  const DroppedLog& first = dropped.front();
  if (dropped.size() == 1) {
    return fmt::format("the first {} bytes of {} were dropped by its limit of {} bytes (by {})", first.bytes, first.log,
                       first.limit, first.by);
  }
  std::uint64_t bytes = 0;
  for (const DroppedLog& log : dropped) bytes += log.bytes;
  return fmt::format("the first bytes of {} logs were dropped by their limits, {} in all (by {})", dropped.size(),
                     bytes, first.by);
}

namespace {

std::string JobName(const JobReport& job) {
  return job.job.empty() ? fmt::format("a job of {}", Printable(job.engine))
                         : fmt::format("{} job {}", Printable(job.engine), Printable(job.job));
}

}  // namespace

std::optional<JobReport> MakeJobReport(const std::string& run_dir) {
  const auto record = ReadJobRecord(run_dir);
  if (!record) return std::nullopt;
  JobReport report;
  report.engine = record->engine;
  report.job = ReadJobId(run_dir);
  report.attempts = ReadAttempts(FirstAttemptOf(run_dir));
  report.said = ReadJobEnd(run_dir);
  for (std::size_t i = 0; i < report.attempts.size(); ++i) {
    const JobAttempt& attempt = report.attempts[i];
    if (attempt.run != record->run) continue;
    report.attempt = i + 1;
    report.end = attempt.end;
    report.host = attempt.lost.empty() ? attempt.host : attempt.lost;
  }
  return report;
}

std::string LostText(const JobReport& job) {
  const std::string end = !job.end.empty() ? job.end : job.said ? job.said->state : std::string();
  if (end.empty()) return {};
  return fmt::format("{} {}{}", JobName(job), JobEndText(end, job.host),
                     job.said && !job.said->reason.empty() ? " (" + Printable(job.said->reason) + ")" : "");
}

namespace {

// On the failure of an attempt.
std::string VerdictLine(const JobAttempt& attempt) {
  if (attempt.verdict.empty()) return {};
  return fmt::format("  {:<10}{}: {}{}\n", "verdict", Printable(attempt.verdict), Printable(attempt.evidence),
                     attempt.excluded.empty() ? "" : "; without " + Printable(attempt.excluded) + " from then on");
}

}  // namespace

std::string JobLines(const JobReport& job) {
  std::string text = fmt::format("  {:<10}{}", "job", JobName(job));
  if (job.attempts.size() > 1) text += fmt::format(", attempt {} of {}", job.attempt, job.attempts.size());
  if (!job.end.empty()) text += fmt::format("; it {}", JobEndText(job.end, job.host));
  text += '\n';
  if (job.attempts.size() < 2) return text + (job.attempts.empty() ? "" : VerdictLine(job.attempts.front()));
  for (std::size_t i = 0; i < job.attempts.size(); ++i) {
    const JobAttempt& attempt = job.attempts[i];
    text += fmt::format(
        "  {:<10}{} on {}{}: {}\n", "attempt", i + 1, Printable(attempt.host),
        attempt.end.empty()
            ? ""
            : fmt::format(", job {}", JobEndText(attempt.end, attempt.lost.empty() ? attempt.host : attempt.lost)),
        Printable(attempt.run_dir));
    text += VerdictLine(attempt);
  }
  return text;
}

namespace {

bool Succeeded(const AttemptHistory& attempt) {
  return attempt.exited && !attempt.exited->signalled && attempt.exited->code == 0;
}

// Names of its last attempt's devices on the machine; empty before they were allocated.
std::vector<std::string> DevicesOf(const Plan& plan, const RunHistory& history, ProcessId id) {
  std::vector<std::string> devices;
  const auto machine = history.machines.find(history.Last(id).machine);
  if (machine == history.machines.end()) return devices;
  const std::vector<std::string>& names = machine->second.devices;
  for (const std::uint32_t number : plan.processes[id].devices) {
    if (number < names.size()) devices.push_back(names[number]);
  }
  return devices;
}

std::multimap<std::int32_t, ProcessId> PidsOf(const RunHistory& history) {
  std::multimap<std::int32_t, ProcessId> pids;
  for (ProcessId id = 0; id < history.attempts.size(); ++id) {
    for (const AttemptHistory& attempt : history.attempts[id]) {
      if (attempt.started) pids.emplace(attempt.started->pid, id);
    }
  }
  return pids;
}

Receipt MakeReceipt(const RunHistory& history) {
  Receipt receipt;
  std::set<std::string> by;
  for (const std::vector<AttemptHistory>& attempts : history.attempts) {
    for (const AttemptHistory& attempt : attempts) {
      receipt.started += attempt.started ? 1 : 0;
      receipt.reaped += attempt.started && attempt.exited ? 1 : 0;
    }
  }
  // An agent's final counts take precedence over the individual messages before the end.
  std::uint64_t attested_started = 0;
  std::uint64_t attested_reaped = 0;
  for (const auto& [number, machine] : history.machines) {
    if (machine.empty) {
      attested_started += machine.empty->started;
      attested_reaped += machine.empty->reaped;
      receipt.adopted += machine.empty->adopted;
      by.insert(machine.empty->by.begin(), machine.empty->by.end());
    }
    if (!machine.lost) continue;
    receipt.attested = false;
    if (machine.lost->killed > 0) by.insert("head");
    // Other ends are those of agents whose guard, or the head, has killed the rest.
    if (machine.lost->why.find("no heartbeat") != std::string::npos) receipt.silent_hosts.push_back(machine.name);
  }
  receipt.started = std::max(receipt.started, attested_started);
  receipt.reaped = std::max(receipt.reaped, attested_reaped);
  receipt.left = receipt.started - std::min(receipt.started, receipt.reaped);
  receipt.by.assign(by.begin(), by.end());
  return receipt;
}

// `last`: when the run ended, or gave its last sign.
Timings MakeTimings(const RunHistory& history, MonotonicNs last) {
  Timings timings;
  timings.plan = InSeconds(history.began->plan_ns);
  timings.total = SecondsBetween(history.began->on_head, last);
  std::map<Phase, MonotonicNs> began = {{Phase::kPreparing, history.began->on_head}};
  for (const Recorded<PhaseChanged>& phase : history.phases) began.emplace(phase.to, phase.on_head);
  // A phase lasts until the beginning of the next phase that the run reached.
  const auto lasted = [&](Phase phase) {
    const auto from = began.find(phase);
    if (from == began.end()) return 0.0;
    const auto next = std::next(from);
    return SecondsBetween(from->second, next == began.end() ? last : next->second);
  };
  timings.connect = lasted(Phase::kPreparing);
  timings.spawn = lasted(Phase::kStarting);
  timings.run = lasted(Phase::kRunning);
  timings.linger = lasted(Phase::kLingering);
  timings.stop = lasted(Phase::kStopping);
  timings.finish = lasted(Phase::kFinishing);
  return timings;
}

AttemptReport AttemptOf(const RunHistory& history, ProcessId process, std::uint32_t number) {
  const AttemptHistory& attempt = history.attempts[process][number];
  AttemptReport report;
  report.host = history.MachineName(attempt.machine);
  report.attempt = number;
  for (const EndEvidence& evidence : attempt.evidence) report.evidence.push_back(evidence.detail);
  if (attempt.started) {
    report.pid = attempt.started->pid;
    report.started_at = attempt.started->wall;
  }
  if (attempt.spawn_failed) {
    report.spawn_stage = attempt.spawn_failed->stage;
    report.ended_at = attempt.spawn_failed->wall;
  }
  if (!attempt.exited) return report;
  const Recorded<ProcessExited>& exited = *attempt.exited;
  report.ended_at = exited.wall;
  if (exited.signalled) {
    report.signal = SignalName(exited.code);
  } else {
    report.exit_code = exited.code;
  }
  report.core_dumped = exited.core_dumped;
  report.user_seconds = static_cast<double>(exited.user_us) / 1e6;
  report.system_seconds = static_cast<double>(exited.system_us) / 1e6;
  report.max_rss_kib = exited.max_rss_kib;
  return report;
}

std::string VerdictOf(const AttemptHistory& last, bool is_origin, bool has_origin, bool live) {
  if (is_origin) return "origin";
  if (!last.ordered) return "not_started";
  if (!last.Ended()) return live ? "running" : "lost";
  if (Succeeded(last) && !(last.stop_ordered && has_origin)) return "ok";
  if (has_origin) return "victim";
  return "stopped";
}

// The rank in the plan, or the one found at the beginning of the last log.
std::optional<std::uint32_t> RankOf(const Plan& plan, ProcessId id, std::uint32_t attempt, int folder) {
  const Process& process = plan.processes[id];
  const Role& role = plan.roles[process.role];
  if (process.rank || !role.world.empty() || role.plays == "other") return process.rank;
  auto log = LogBytes::Open(folder, LogPath(plan, id, attempt));
  if (!log) return std::nullopt;
  std::uint64_t offset = 0;
  return AssignedRank(plan.framework, role.plays, log->ReadBefore(kRegistrationBytes, kRegistrationBytes, offset));
}

FailureReport FailureOf(const Plan& plan, const RunHistory& history, const FirstFailure& first, int folder) {
  const Process& process = plan.processes[first.process];
  const AttemptHistory& last = history.Last(first.process);
  const AttemptReport attempt =
      AttemptOf(history, first.process, static_cast<std::uint32_t>(history.attempts[first.process].size() - 1));
  FailureReport failure;
  failure.role = plan.roles[process.role].name;
  failure.index = process.index;
  failure.rank = RankOf(plan, first.process, first.attempt, folder);
  if (RanksAreAssigned(plan.roles[process.role])) failure.ranks_by = plan.framework;
  failure.host = history.MachineName(history.attempts[first.process][first.attempt].machine);
  failure.exit_code = attempt.exit_code;
  failure.signal = attempt.signal;
  failure.at = attempt.ended_at;
  failure.spawn_stage = attempt.spawn_stage;
  failure.log = LogPath(plan, first.process, first.attempt);
  failure.last_lines = LastLines(folder, failure.log);
  if (last.spawn_failed) failure.why = EndingText(*last.spawn_failed);
  if (last.exited) failure.why = EndingText(plan, *last.exited);
  const bool proven = std::any_of(attempt.evidence.begin(), attempt.evidence.end(),
                                  [](const std::string& evidence) { return evidence.starts_with(kErrorFileEvidence); });
  if (last.exited && last.stop_ordered && proven) failure.why = "left an error file, and then " + failure.why;
  if (Succeeded(last)) failure.why += " before it was ready";  // exit code 0 is a failure only before readiness
  if (!last.limits.empty()) failure.why = EndingText(last.limits.back());
  if (last.started && last.exited) failure.after_seconds = SecondsBetween(last.started->at, last.exited->at);
  return failure;
}

// Converts the time of the failure to the head's clock; until then it is when the head received the report, `reported`.
void PutOnHead(FailureReport& failure, MonotonicNs reported) {
  const auto wall = ParseUtc(failure.at);
  if (!failure.analysis.at || !wall) return;
  failure.at_error = failure.analysis.at_error;
  if (failure.analysis.at_error == 0) return;  // it is the head's own host
  // The delay is less than the head's run time unless the journal is invalid.
  const auto late = static_cast<std::int64_t>(reported) - static_cast<std::int64_t>(*failure.analysis.at);
  failure.at = UtcText(static_cast<std::uint64_t>(static_cast<std::int64_t>(*wall) - late));
}

}  // namespace

Result<Report> MakeReport(const std::string& run_dir, std::shared_ptr<const Plan> plan) {
  const Result<RecordedRun> run = ReadRun(run_dir, std::move(plan));
  if (!run) return Fail(run.error());
  return MakeReport(run_dir, *run);
}

Result<Report> MakeReport(const std::string& run_dir, const RecordedRun& run) {
  const auto& [folder, shared_plan, history, live] = run;
  const Plan& plan = *shared_plan;
  if (!history.began) {
    return Fail(Error("run", {},
                      fmt::format("the journal of {} has no first record: {}", Quoted(run_dir),
                                  history.damage.empty() ? "it is empty" : history.damage)));
  }

  Report report;
  report.run = history.began->run_id;
  report.plan = history.began->plan_id;
  report.parent = history.began->parent;
  report.rehearsal = history.began->rehearsal;
  report.drill = history.is_drill();
  report.name = plan.name;
  report.run_dir = run_dir;
  report.journal_damage = history.damage;
  if (history.ended) {
    report.outcome = OutcomeName(history.ended->cause);
    report.exit_code = history.ended->exit_code;
    report.why = history.ended->why;
  } else {
    report.outcome = live ? "running" : OutcomeName(Cause::kLost);
    report.exit_code = live ? 0 : 3;
    report.why = live ? "" : "muster itself exited before the run ended";
  }
  report.job = MakeJobReport(run_dir);
  if (report.job && !history.ended && !live) {
    if (std::string lost = LostText(*report.job); !lost.empty()) report.why = std::move(lost);
  }
  const UsageHistory usage = ReadUsage(folder.get(), plan.processes.size());
  std::vector<AttemptEnd> ends;
  std::vector<std::uint32_t> last_attempts;
  const bool did_its_work = history.ended && history.ended->cause == Cause::kNone;
  for (ProcessId id = 0; id < plan.processes.size(); ++id) {
    const Process& process = plan.processes[id];
    const AttemptHistory& last = history.Last(id);
    const auto number = static_cast<std::uint32_t>(history.attempts[id].size() - 1);
    const auto cores = history.cores.find(ProcessName(plan, process));
    ProcessReport reported{plan.roles[process.role].name,
                           process.index,
                           RankOf(plan, id, number, folder.get()),
                           history.MachineName(last.machine),
                           DevicesOf(plan, history, id),
                           cores == history.cores.end() ? std::string() : cores->second,
                           {},
                           {},
                           {}};
    if (const auto sampled = usage.processes().find(id); sampled != usage.processes().end()) {
      reported.usage = SummaryOf(sampled->second);
    }
    if (last.ordered) {
      for (std::uint32_t i = 0; i <= number; ++i) reported.attempts.push_back(AttemptOf(history, id, i));
    }
    const bool is_origin = history.origin && history.origin->process == id;
    reported.verdict = VerdictOf(last, is_origin, history.origin.has_value(), live);
    report.processes.push_back(std::move(reported));
    ends.push_back(
        {last.started.has_value(), last.Ended(), last.stop_ordered && !did_its_work, last.stop_ordered, number});
    last_attempts.push_back(number);
    const std::string log = LogPath(plan, id, number);
    if (const int error = last.started ? LogError(folder.get(), log) : 0; error != 0) {
      report.unreadable_logs.push_back(fmt::format("{}: {}", log, std::strerror(error)));
    }
  }
  for (const CheckpointSeen& seen : history.checkpoints) {
    if (seen.run.empty()) {
      report.checkpoint = seen.path;
    } else {
      report.resumed = {seen.run, seen.path};
    }
  }
  if (history.checkpoint_asked && !live && !plan.checkpoints.dir.marked.empty()) {
    const StopPolicy& asked = plan.roles[*history.checkpoint_asked].stop;
    report.no_checkpoint = fmt::format("{} asked for one, and none was written (checkpoint.wait is {})",
                                       SignalName(SignalNumber(asked.checkpoint_signal).value_or(0)),
                                       DurationText(static_cast<double>(asked.checkpoint_ms) / 1000));
  }
  report.tags = ReadTags(folder.get());
  report.note = ReadNote(folder.get());
  report.metrics = ReadMetrics(plan, folder.get(), last_attempts);
  AddLogMetrics(plan, run_dir, !live, report.metrics);
  if (!report.rehearsal) report.contexts = ReadContextReports(folder.get(), plan, report.run, ends);
  report.code = history.code;
  report.activations = ReadActivations(plan, history, folder.get());
  for (const Recorded<FaultInjected>& fault : history.faults)
    report.faults.push_back({fault, fault.wall, SecondsBetween(history.began->on_head, fault.on_head)});
  report.failures = FailuresOfRun(plan, history, folder.get());
  for (const Recorded<RestartPlanned>& restart : history.restarts) {
    const Process& process = plan.processes[restart.process];
    report.restarts.push_back({plan.roles[process.role].name, process.index, restart.attempt, restart.scope,
                               restart.processes.size(), restart.wall, restart.why});
  }
  for (const ReplacementHistory& replaced : history.replacements) {
    const auto& lost = history.machines.at(replaced.machine).lost;
    report.replacements.push_back({history.MachineName(replaced.machine), history.MachineName(replaced.by),
                                   replaced.wall, lost ? lost->why : ""});
  }
  if (!live && report.outcome != "ok") report.files = FindEvidenceFiles(folder.get(), plan, PidsOf(history));
  if (history.origin) {
    report.first_failure = FailureOf(plan, history, *history.origin, folder.get());
    report.first_failure->analysis = AnalyseFailure(plan, history, *history.origin, folder.get(), report.files);
    const auto& end = history.attempts[history.origin->process][history.origin->attempt].exited;
    if (end) PutOnHead(*report.first_failure, end->on_head);
  }
  report.dumps = ReadDumps(plan, history, folder.get());
  report.dropped_logs = ReadDroppedLogs(plan, history, folder.get());
  report.receipt = MakeReceipt(history);
  const bool lost = !history.ended && !live;
  report.timings =
      MakeTimings(history, lost ? history.first.on_head + NsUntilLastSign(folder.get(), history.first, history.last)
                                : history.last.on_head);
  report.startup = MakeStartup(plan, history);
  return report;
}

ReportFiles WriteReportFiles(int folder, const std::string& run_dir, std::shared_ptr<const Plan> plan) {
  ReportFiles analysis;
  // Through the descriptor, because another directory may have replaced it.
  Result<Report> report = MakeReport(FileBelow{folder, {}}.ThroughDescriptor(), std::move(plan));
  if (!report) return analysis;
  report->run_dir = run_dir;
  for (const auto& [name, bytes] :
       {std::pair{kReportEntry.name, ReportJson(*report)}, std::pair{kReportTextEntry.name, ReportText(*report)}}) {
    if (const Result<void> written = ReplaceFile(folder, name, bytes); !written) {
      analysis.problems.insert(analysis.problems.end(), written.error().begin(), written.error().end());
    }
  }
  analysis.report = *std::move(report);
  return analysis;
}

}  // namespace muster
