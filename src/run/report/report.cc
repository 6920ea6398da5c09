#include "run/report/report.h"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <map>
#include <set>
#include <system_error>
#include <utility>
#include <variant>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/system/clock.h"
#include "base/system/file_access.h"
#include "base/values/abnormal_exit.h"
#include "base/values/number_text.h"
#include "base/values/overloaded.h"
#include "base/values/quoting.h"
#include "base/values/text_parts.h"
#include "base/values/utf8_text.h"
#include "code/git.h"
#include "plan/plan/roles.h"
#include "run/directory/private_files.h"
#include "run/directory/run_directory.h"
#include "run/directory/run_tags.h"
#include "run/hosts/host_differences.h"
#include "run/journal/run_summary.h"
#include "run/report/context_report.h"
#include "run/start/start_specs.h"
#include "wire/files/log_bytes.h"
#include "wire/files/run_layout.h"

namespace muster {

std::vector<ActivationReport> ReadActivations(const Plan& plan, const CheckedJournal& journal, int folder) {
  std::vector<ActivationReport> activations;
  std::map<std::uint32_t, std::string> names;
  for (const JournalRecord& record : journal.records()) {
    if (const auto* connected = std::get_if<AgentConnected>(&record.entry))
      names[connected->host] = connected->host_name;
    const auto* reported = std::get_if<HostActivated>(&record.entry);
    if (reported == nullptr) continue;
    ActivationReport& activation = activations.emplace_back();
    const auto name = names.find(reported->host);
    activation.host = name == names.end() ? fmt::format("host{}", reported->host) : name->second;
    activation.seconds = static_cast<double>(reported->took_ms) / 1000;
    for (const auto& [variable, unused] : reported->set) activation.set.push_back(variable);
    activation.unset = reported->unset;
    activation.failed_step = reported->failed_step;
    activation.error = reported->error;
    activation.log = ActivationLogPath(plan, reported->host);
    if (!reported->error.empty()) activation.last_lines = LastLines(folder, activation.log);
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

CodeReport MakeCodeReport(const CheckedJournal& journal) {
  CodeReport code;
  for (const JournalRecord& record : journal.records()) {
    if (const auto* seen = std::get_if<CodeSeen>(&record.entry)) code.seen = *seen;
    if (const auto* shipped = std::get_if<CodeShipped>(&record.entry)) code.shipped.push_back(*shipped);
  }
  return code;
}

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

std::vector<DroppedLog> ReadDroppedLogs(const Plan& plan, const CheckedJournal& journal, int run_dir) {
  std::vector<DroppedLog> dropped;
  std::map<std::uint32_t, std::string> means;  // by host
  for (const JournalRecord& record : journal.records()) {
    if (const auto* agent = std::get_if<AgentConnected>(&record.entry)) {
      for (const std::string& name : agent->mechanisms) {
        if (name == "collapse-range" || name == "log-pipe") means[agent->host] = name;
      }
    }
    const auto* order = std::get_if<StartOrdered>(&record.entry);
    if (order == nullptr) continue;
    const Process& process = plan.processes[order->process];
    if (plan.roles[process.role].limits.log_bytes == 0) continue;
    const std::string log = LogPath(plan, order->process, order->attempt);
    const auto head = ReadLogHead(run_dir, log);
    if (head && head->kept > 0) dropped.push_back({log, head->kept, head->limit, means[process.host]});
  }
  return dropped;
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

std::string JsonSafe(const std::string& text) { return IsUtf8(text) ? text : Printable(text); }

nlohmann::ordered_json JobTextOrNull(const std::string& text) {
  return text.empty() ? nlohmann::ordered_json(nullptr) : nlohmann::ordered_json(JsonSafe(text));
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

std::string JobLines(const JobReport& job) {
  std::string text = fmt::format("  {:<10}{}", "job", JobName(job));
  if (job.attempts.size() > 1) text += fmt::format(", attempt {} of {}", job.attempt, job.attempts.size());
  if (!job.end.empty()) text += fmt::format("; it {}", JobEndText(job.end, job.host));
  text += '\n';
  if (job.attempts.size() < 2) return text;
  for (std::size_t i = 0; i < job.attempts.size(); ++i) {
    const JobAttempt& attempt = job.attempts[i];
    text += fmt::format(
        "  {:<10}{} on {}{}: {}\n", "attempt", i + 1, Printable(attempt.host),
        attempt.end.empty()
            ? ""
            : fmt::format(", job {}", JobEndText(attempt.end, attempt.lost.empty() ? attempt.host : attempt.lost)),
        Printable(attempt.run_dir));
  }
  return text;
}

nlohmann::ordered_json JobJson(const JobReport& job) {
  nlohmann::ordered_json attempts = nlohmann::ordered_json::array();
  for (const JobAttempt& attempt : job.attempts) {
    attempts.push_back({{"run", JsonSafe(attempt.run)},
                        {"run_dir", JsonSafe(attempt.run_dir)},
                        {"host", JsonSafe(attempt.host)},
                        {"end", JobTextOrNull(attempt.end)},
                        {"lost", JobTextOrNull(attempt.lost)},
                        {"requeued", attempt.requeued}});
  }
  nlohmann::ordered_json said = nullptr;
  if (job.said) {
    said = {{"state", JsonSafe(job.said->state)},
            {"reason", JobTextOrNull(job.said->reason)},
            {"hosts", JobTextOrNull(job.said->hosts)},
            {"exit_code",
             job.said->exit_code ? nlohmann::ordered_json(*job.said->exit_code) : nlohmann::ordered_json(nullptr)}};
  }
  return {{"engine", JsonSafe(job.engine)}, {"id", JobTextOrNull(job.job)}, {"attempt", job.attempt},
          {"end", JobTextOrNull(job.end)},  {"said", std::move(said)},      {"attempts", std::move(attempts)}};
}

namespace {

// Journal entries about one attempt of a process.
struct Track {
  bool ordered = false;
  bool stopped = false;  // a stop was ordered before it ended
  std::optional<ProcessStarted> start;
  std::optional<ProcessExited> end;
  std::optional<SpawnFailed> no_start;
  std::optional<LimitPassed> limit;  // the exceeded limit for which it was stopped
  std::vector<std::string> evidence;
  std::string start_wall;
  std::string end_wall;
  MonotonicNs end_reported = 0;  // when the head received the report
  std::uint32_t attempt = 0;

  bool Succeeded() const { return end && !end->signalled && end->code == 0; }
  bool Ended() const { return end || no_start; }
};

// Collects what the report needs in one pass over the records.
class Reading {
 public:
  Reading(const Plan& plan, const CheckedJournal& journal)
      : plan_(plan), hosts_(plan, journal), tracks_(plan.processes.size(), std::vector<Track>(1)) {
    for (const JournalRecord& record : journal.records()) Take(record);
  }

  const std::optional<RunBegan>& began() const { return began_; }
  const std::optional<RunEnded>& ended() const { return ended_; }
  const std::optional<FirstFailure>& first_failure() const { return first_failure_; }
  // The last attempt of a process; an empty one if none was ordered.
  const Track& track(ProcessId process) const { return tracks_[process].back(); }
  const std::vector<Track>& attempts(ProcessId process) const { return tracks_[process]; }
  const std::vector<std::pair<RestartPlanned, std::string>>& restarts() const { return restarts_; }

  // When the head received the end of the failed attempt, if the failure was an end.
  std::optional<MonotonicNs> EndSeen(const FirstFailure& failure) const {
    const Track& track = tracks_[failure.process][failure.attempt];
    return track.end ? std::optional(track.end_reported) : std::nullopt;
  }
  const std::vector<ReplacementReport>& replacements() const { return replacements_; }

  std::string HostOf(ProcessId process, std::uint32_t attempt) const {
    return hosts_.Name(hosts_.Of(process, attempt));
  }

  // Names of its last attempt's devices on the host; empty before they were allocated.
  std::vector<std::string> Devices(ProcessId id) const {
    const std::vector<std::string> names = hosts_.Devices(hosts_.Of(id, track(id).attempt));
    std::vector<std::string> devices;
    for (const std::uint32_t number : plan_.processes[id].devices) {
      if (number < names.size()) devices.push_back(names[number]);
    }
    return devices;
  }

  std::string Cores(const Process& process) const {
    const auto found = cores_.find(ProcessName(plan_, process));
    return found == cores_.end() ? std::string() : found->second;
  }

  std::multimap<std::int32_t, ProcessId> Pids() const {
    std::multimap<std::int32_t, ProcessId> pids;
    for (ProcessId id = 0; id < tracks_.size(); ++id) {
      for (const Track& attempt : tracks_[id]) {
        if (attempt.start) pids.emplace(attempt.start->pid, id);
      }
    }
    return pids;
  }

  Receipt MakeReceipt() const {
    Receipt receipt;
    std::set<std::string> by(by_.begin(), by_.end());
    for (const std::vector<Track>& attempts : tracks_) {
      for (const Track& track : attempts) {
        receipt.started += track.start ? 1 : 0;
        receipt.reaped += track.start && track.end ? 1 : 0;
      }
    }
    // An agent's final counts take precedence over the individual messages before the end.
    std::uint64_t attested_started = 0;
    std::uint64_t attested_reaped = 0;
    for (const AgentEmpty& empty : attested_) {
      attested_started += empty.started;
      attested_reaped += empty.reaped;
      receipt.adopted += empty.adopted;
      by.insert(empty.by.begin(), empty.by.end());
    }
    receipt.started = std::max(receipt.started, attested_started);
    receipt.reaped = std::max(receipt.reaped, attested_reaped);
    receipt.left = receipt.started - std::min(receipt.started, receipt.reaped);
    receipt.by.assign(by.begin(), by.end());
    receipt.attested = lost_.empty();
    for (const auto& [host, why] : lost_) {
      // Other ends are those of agents whose guard, or the head, has killed the rest.
      if (why.find("no heartbeat") != std::string::npos) receipt.silent_hosts.push_back(hosts_.Name(host));
    }
    return receipt;
  }

  // `last`: when the run ended, or gave its last sign.
  Timings MakeTimings(MonotonicNs last) const {
    Timings timings;
    if (!began_) return timings;
    timings.plan = InSeconds(began_->plan_ns);
    timings.total = SecondsBetween(began_at_, last);
    // A phase lasts until the beginning of the next phase that the run reached.
    const auto lasted = [&](Phase phase) {
      const auto from = phases_.find(phase);
      if (from == phases_.end()) return 0.0;
      const auto next = std::next(from);
      return SecondsBetween(from->second, next == phases_.end() ? last : next->second);
    };
    timings.connect = lasted(Phase::kPreparing);
    timings.spawn = lasted(Phase::kStarting);
    timings.run = lasted(Phase::kRunning);
    timings.linger = lasted(Phase::kLingering);
    timings.stop = lasted(Phase::kStopping);
    timings.finish = lasted(Phase::kFinishing);
    return timings;
  }

 private:
  void Take(const JournalRecord& record) {
    std::visit(Overloaded{
                   [&](const RunBegan& e) {
                     began_ = e;
                     began_at_ = record.at;
                     phases_.emplace(Phase::kPreparing, record.at);
                   },
                   [&](const PlanBound& e) { cores_ = e.cores; },
                   [&](const HostReplaced& e) {
                     if (e.error.empty()) TakeReplacement(e, record.wall);
                   },
                   [&](const PhaseChanged& e) { phases_.emplace(e.to, record.at); },
                   [&](const FirstFailure& e) { first_failure_ = e; },
                   [&](const FailureTraced& e) {
                     first_failure_ = FirstFailure{e.process, e.attempt};
                   },
                   [&](const RunEnded& e) { ended_ = e; },
                   [&](const AgentEmpty& e) { attested_.push_back(e); },
                   [&](const AgentLost& e) {
                     if (e.killed > 0) by_.push_back("head");
                     lost_[e.host] = e.why;
                   },
                   [&](const StopOrdered& e) {
                     for (const ProcessId process : e.processes) {
                       Track& track = tracks_[process].back();
                       track.stopped = track.stopped || !track.Ended();
                     }
                   },
                   [&](const StartOrdered& e) {
                     std::vector<Track>& tracks = tracks_[e.process];
                     if (tracks.back().ordered) tracks.emplace_back();
                     tracks.back().ordered = true;
                     tracks.back().attempt = e.attempt;
                   },
                   [&](const RestartPlanned& e) { restarts_.emplace_back(e, record.wall); },
                   [&](const ProcessStarted& e) {
                     if (Track* track = Find(e.process, e.attempt)) track->start = e, track->start_wall = record.wall;
                   },
                   [&](const ProcessExited& e) {
                     if (Track* track = Find(e.process, e.attempt))
                       track->end = e, track->end_wall = record.wall, track->end_reported = record.at;
                   },
                   [&](const SpawnFailed& e) {
                     if (Track* track = Find(e.process, e.attempt)) track->no_start = e, track->end_wall = record.wall;
                   },
                   [&](const LimitPassed& e) {
                     if (Track* track = Find(e.process, e.attempt)) track->limit = e;
                   },
                   [&](const EndEvidence& e) {
                     if (Track* track = Find(e.process, e.attempt)) track->evidence.push_back(e.detail);
                   },
                   [&](const PortTaken& e) {
                     if (Track* track = Find(e.process, e.attempt)) track->evidence.push_back(TakenText(e));
                   },
                   [](const auto&) {},
               },
               record.entry);
  }

  void TakeReplacement(const HostReplaced& e, const std::string& wall) {
    cores_ = e.cores;
    const auto before = stands_.try_emplace(e.host, e.host).first;
    replacements_.push_back({hosts_.Name(before->second), hosts_.Name(e.by), wall, lost_[before->second]});
    before->second = e.by;
  }

  // Attempts are numbered as they were ordered.
  Track* Find(ProcessId process, std::uint32_t attempt) {
    Track& track = tracks_[process][attempt];
    return track.ordered ? &track : nullptr;
  }

  const Plan& plan_;
  AttemptHosts hosts_;
  std::vector<std::vector<Track>> tracks_;  // by process: its attempts, at least one
  std::vector<std::pair<RestartPlanned, std::string>> restarts_;
  std::optional<RunBegan> began_;
  std::optional<RunEnded> ended_;
  std::optional<FirstFailure> first_failure_;
  std::map<std::string, std::string> cores_;       // by process
  std::map<std::uint32_t, std::string> lost_;      // why, by machine
  std::map<std::uint32_t, std::uint32_t> stands_;  // by host of the plan that was replaced: its machine
  std::vector<ReplacementReport> replacements_;
  std::vector<AgentEmpty> attested_;
  std::vector<std::string> by_;
  std::map<Phase, MonotonicNs> phases_;
  MonotonicNs began_at_ = 0;
};

AttemptReport AttemptOf(const Track& track, std::string host) {
  AttemptReport attempt;
  attempt.host = std::move(host);
  attempt.attempt = track.attempt;
  attempt.started_at = track.start_wall;
  attempt.ended_at = track.end_wall;
  attempt.evidence = track.evidence;
  if (track.start) attempt.pid = track.start->pid;
  if (track.no_start) attempt.spawn_stage = track.no_start->stage;
  if (track.end) {
    if (track.end->signalled) {
      attempt.signal = SignalName(track.end->code);
    } else {
      attempt.exit_code = track.end->code;
    }
    attempt.core_dumped = track.end->core_dumped;
    attempt.user_seconds = static_cast<double>(track.end->user_us) / 1e6;
    attempt.system_seconds = static_cast<double>(track.end->system_us) / 1e6;
    attempt.max_rss_kib = track.end->max_rss_kib;
  }
  return attempt;
}

std::string VerdictOf(const Track& track, bool is_origin, bool has_origin, bool live) {
  if (is_origin) return "origin";
  if (!track.ordered) return "not_started";
  if (!track.Ended()) return live ? "running" : "lost";
  if (track.Succeeded() && !(track.stopped && has_origin)) return "ok";
  if (has_origin) return "victim";
  return "stopped";
}

// The policy by which this order asks for a checkpoint, else `before`: it has the grace of the wait for one.
const StopPolicy* CheckpointAsked(const Plan& plan, const StopOrdered& stop, const StopPolicy* before) {
  if (stop.processes.empty()) return before;
  const StopPolicy& policy = plan.roles[plan.processes[stop.processes.front()].role].stop;
  const bool asks = !policy.checkpoint_signal.empty() && stop.grace_ms > policy.grace_ms &&
                    stop.signal == SignalNumber(policy.checkpoint_signal).value_or(0);
  return asks ? &policy : before;
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

FailureReport FailureOf(const Plan& plan, const Reading& reading, const FirstFailure& first, int folder) {
  const Process& process = plan.processes[first.process];
  const Track& track = reading.track(first.process);
  const AttemptReport attempt = AttemptOf(track, reading.HostOf(first.process, first.attempt));
  FailureReport failure;
  failure.role = plan.roles[process.role].name;
  failure.index = process.index;
  failure.rank = RankOf(plan, first.process, first.attempt, folder);
  if (RanksAreAssigned(plan.roles[process.role])) failure.ranks_by = plan.framework;
  failure.host = attempt.host;
  failure.exit_code = attempt.exit_code;
  failure.signal = attempt.signal;
  failure.at = attempt.ended_at;
  failure.spawn_stage = attempt.spawn_stage;
  failure.log = LogPath(plan, first.process, first.attempt);
  failure.last_lines = LastLines(folder, failure.log);
  if (track.no_start) failure.why = EndingText(*track.no_start);
  if (track.end) failure.why = EndingText(plan, *track.end);
  const bool proven = std::any_of(track.evidence.begin(), track.evidence.end(),
                                  [](const std::string& evidence) { return evidence.starts_with(kErrorFileEvidence); });
  if (track.end && track.stopped && proven) failure.why = "left an error file, and then " + failure.why;
  if (track.Succeeded()) failure.why += " before it was ready";  // exit code 0 is a failure only before readiness
  if (track.limit) failure.why = EndingText(*track.limit);
  if (track.start && track.end) failure.after_seconds = SecondsBetween(track.start->at, track.end->at);
  return failure;
}

// Converts the time of the failure to the head's clock; until then it is when the head received the report, `reported`.
void PutOnHead(FailureReport& failure, std::optional<MonotonicNs> reported) {
  const auto wall = ParseUtc(failure.at);
  if (!reported || !failure.account.at || !wall) return;
  failure.at_error = failure.account.at_error;
  if (failure.account.at_error == 0) return;  // it is the head's own host
  // The delay is less than the head's run time unless the journal is invalid.
  const auto late = static_cast<std::int64_t>(*reported) - static_cast<std::int64_t>(*failure.account.at);
  failure.at = UtcText(static_cast<std::uint64_t>(static_cast<std::int64_t>(*wall) - late));
}

}  // namespace

Result<Report> MakeReport(const std::string& run_dir, std::shared_ptr<const Plan> its_plan) {
  // First of all: if the run is over before the journal is read, the journal has its last record.
  const bool held = IsRunLive(run_dir);
  const Result<RecordedRun> run = ReadRun(run_dir, std::move(its_plan));
  if (!run) return Fail(run.error());
  const auto& [folder, shared_plan, journal] = *run;
  const Plan& plan = *shared_plan;
  const Reading reading(plan, journal);
  if (!reading.began()) {
    return Fail(Error("run", {},
                      fmt::format("the journal of {} has no first record: {}", Quoted(run_dir),
                                  journal.damage().empty() ? "it is empty" : journal.damage())));
  }

  Report report;
  report.run = reading.began()->run_id;
  report.plan = reading.began()->plan_id;
  report.parent = reading.began()->parent;
  report.rehearsal = reading.began()->rehearsal;
  report.name = plan.name;
  report.run_dir = run_dir;
  report.journal_damage = journal.damage();
  const bool live = !reading.ended() && held;
  if (reading.ended()) {
    report.outcome = OutcomeName(reading.ended()->cause);
    report.exit_code = reading.ended()->exit_code;
    report.why = reading.ended()->why;
  } else {
    report.outcome = live ? "running" : OutcomeName(Cause::kLost);
    report.exit_code = live ? 0 : 3;
    report.why = live ? "" : "muster itself exited before the run ended";
  }
  report.job = MakeJobReport(run_dir);
  if (report.job && !reading.ended() && !live) {
    if (std::string lost = LostText(*report.job); !lost.empty()) report.why = std::move(lost);
  }
  const UsageHistory usage = ReadUsage(folder.get(), plan.processes.size());
  std::vector<AttemptEnd> ends;
  const bool did_its_work = reading.ended() && reading.ended()->cause == Cause::kNone;
  for (ProcessId id = 0; id < plan.processes.size(); ++id) {
    const Process& process = plan.processes[id];
    const Track& track = reading.track(id);
    ProcessReport reported{plan.roles[process.role].name,
                           process.index,
                           RankOf(plan, id, track.attempt, folder.get()),
                           reading.HostOf(id, track.attempt),
                           reading.Devices(id),
                           reading.Cores(process),
                           {},
                           {},
                           {}};
    if (const auto sampled = usage.processes().find(id); sampled != usage.processes().end()) {
      reported.usage = SummaryOf(sampled->second);
    }
    for (const Track& attempt : reading.attempts(id)) {
      if (attempt.ordered) reported.attempts.push_back(AttemptOf(attempt, reading.HostOf(id, attempt.attempt)));
    }
    const bool is_origin = reading.first_failure() && reading.first_failure()->process == id;
    reported.verdict = VerdictOf(track, is_origin, reading.first_failure().has_value(), live);
    report.processes.push_back(std::move(reported));
    ends.push_back(
        {track.start.has_value(), track.Ended(), track.stopped && !did_its_work, track.stopped, track.attempt});
  }
  const StopPolicy* asked = nullptr;  // for a checkpoint, which has not been seen
  for (const JournalRecord& record : journal.records()) {
    if (const auto* stop = std::get_if<StopOrdered>(&record.entry)) asked = CheckpointAsked(plan, *stop, asked);
    const auto* seen = std::get_if<CheckpointSeen>(&record.entry);
    if (seen == nullptr) continue;
    if (seen->run.empty()) {
      report.checkpoint = seen->path;
      asked = nullptr;
    } else {
      report.resumed = {seen->run, seen->path};
    }
  }
  if (asked != nullptr && !live && !plan.checkpoints.dir.marked.empty()) {
    report.no_checkpoint = fmt::format("{} asked for one, and none was written (checkpoint.wait is {})",
                                       SignalName(SignalNumber(asked->checkpoint_signal).value_or(0)),
                                       DurationText(static_cast<double>(asked->checkpoint_ms) / 1000));
  }
  report.tags = ReadTags(folder.get());
  report.note = ReadNote(folder.get());
  std::vector<std::uint32_t> last_attempts;
  for (ProcessId id = 0; id < plan.processes.size(); ++id) last_attempts.push_back(reading.track(id).attempt);
  report.metrics = ReadMetrics(plan, folder.get(), last_attempts);
  AddLogMetrics(plan, run_dir, !live, report.metrics);
  if (!report.rehearsal) report.contexts = ReadContextReports(folder.get(), plan, report.run, ends);
  report.code = MakeCodeReport(journal);
  report.activations = ReadActivations(plan, journal, folder.get());
  for (const auto& [restart, wall] : reading.restarts()) {
    const Process& process = plan.processes[restart.process];
    report.restarts.push_back({plan.roles[process.role].name, process.index, restart.attempt, restart.scope,
                               restart.processes.size(), wall, restart.why});
  }
  report.replacements = reading.replacements();
  if (!live && report.outcome != "ok") report.files = FindEvidenceFiles(folder.get(), plan, reading.Pids());
  if (reading.first_failure()) {
    report.first_failure = FailureOf(plan, reading, *reading.first_failure(), folder.get());
    report.first_failure->account =
        AnalyseFailure(plan, journal, *reading.first_failure(), ClocksOf(plan, journal), folder.get(), report.files);
    PutOnHead(*report.first_failure, reading.EndSeen(*reading.first_failure()));
  }
  report.dumps = ReadDumps(plan, journal, folder.get());
  for (ProcessId id = 0; id < plan.processes.size(); ++id) {
    if (!reading.track(id).start) continue;
    const std::string log = LogPath(plan, id, reading.track(id).attempt);
    if (const int error = LogError(folder.get(), log); error != 0) {
      report.unreadable_logs.push_back(fmt::format("{}: {}", log, std::strerror(error)));
    }
  }
  report.dropped_logs = ReadDroppedLogs(plan, journal, folder.get());
  report.receipt = reading.MakeReceipt();
  const JournalRecord& first = journal.records().front();
  const JournalRecord& last = journal.records().back();
  const bool lost = !reading.ended() && !live;
  report.timings = reading.MakeTimings(lost ? first.at + NsUntilLastSign(folder.get(), first, last) : last.at);
  report.startup = MakeStartup(plan, journal, ClocksOf(plan, journal));
  return report;
}

ReportFiles WriteReportFiles(int folder, const std::string& run_dir, std::shared_ptr<const Plan> plan) {
  ReportFiles account;
  // Through the descriptor, because another directory may have replaced it.
  Result<Report> report = MakeReport(FileBelow{folder, {}}.ThroughDescriptor(), std::move(plan));
  if (!report) return account;
  report->run_dir = run_dir;
  for (const auto& [name, bytes] :
       {std::pair{kReportEntry.name, ReportJson(*report)}, std::pair{kReportTextEntry.name, ReportText(*report)}}) {
    if (const Result<void> written = ReplaceFile(folder, name, bytes); !written) {
      account.problems.insert(account.problems.end(), written.error().begin(), written.error().end());
    }
  }
  account.report = *std::move(report);
  return account;
}

}  // namespace muster
