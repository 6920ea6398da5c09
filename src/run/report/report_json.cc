#include "run/report/report_json.h"

#include <cmath>
#include <optional>
#include <string>
#include <vector>

#include "base/values/number_text.h"
#include "run/report/report.h"
#include "wire/archive/json_fields.h"
#include "wire/archive/json_schema.h"

namespace muster {

// Writes report.json: ReportJson of report.h. The only file that contains its keys.

namespace {

struct ReportForms : PartForms {};  // beside Parts() of this file, which are those of its format alone

// Rounded to microseconds, the precision of the clocks.
double Seconds(double seconds) { return std::round(seconds * 1e6) / 1e6; }
std::optional<double> Seconds(const std::optional<double>& seconds) {
  return seconds ? std::optional(Seconds(*seconds)) : std::nullopt;
}

auto OrNull(const std::string& text) { return As<NullIfNone>(text); }

template <class T>
std::optional<T> OnlyIfSet(T number) {
  return number == 0 ? std::nullopt : std::optional(number);
}

template <class V>
void Parts(V& v, const Members& members) {
  v("role", members.role), v("indices", members.indices), v("ranks", members.ranks);
}

template <class V>
void Parts(V& v, const ErrorNote& note) {
  const bool read = note.unreadable.empty();
  v("unreadable", OnlyIf(!read, note.unreadable)), v("message", OnlyIf(read, note.message));
  v("at", OnlyIf(read, OrNull(note.at))), v("traceback", OnlyIf(read, note.traceback));
  v("more", OnlyIf(read, note.more));
}

template <class V>
void Parts(V& v, const FailedGroup& group) {
  Parts(v, group.who);
  v("why", group.why), v("last_lines", group.lines), v("alike", group.alike), v("hint", OrNull(group.hint));
  v("error", group.error), v("evidence", group.evidence);
}

template <class V>
void Parts(V& v, const TimelineEntry& entry) {
  v("from", Seconds(entry.from)), v("to", Seconds(entry.to)), v("what", entry.what), v("who", entry.who);
}

template <class V>
void Parts(V& v, const StartupStep& step) {
  v("processes", step.processes), v("median", Seconds(step.median)), v("slowest", Seconds(step.slowest));
  v("index", step.index);
}

template <class V>
void Parts(V& v, const RoleStartup& role) {
  v("role", role.role), v("processes", role.processes), v("ordered", Seconds(role.ordered)), v("spawn", role.spawn);
  v("ready", role.ready), v("first_output", role.first_output);
}

template <class V>
void Parts(V& v, const Startup& startup) {
  v("evaluate", Seconds(startup.evaluate)), v("plan", Seconds(startup.plan)), v("agent", Seconds(startup.agent));
  v("activate", Seconds(startup.activate)), v("wait", Seconds(startup.wait)), v("bind", Seconds(startup.bind));
  v("roles", startup.roles);
}

template <class V>
void Parts(V& v, const UncertainOrder& doubt) {
  v("host", OrNull(doubt.host)), v("who", doubt.who), v("after", Seconds(doubt.after));
  v("within", doubt.after ? std::optional(Seconds(doubt.within)) : std::nullopt);
}

template <class V>
void Parts(V& v, const EarlierSign& sign) {
  v("who", sign.who), v("what", sign.what), v("before", Seconds(sign.before));
}

template <class V>
void Parts(V& v, const FailureReport& failure) {
  v("role", failure.role), v("index", failure.index), v("rank", failure.rank), v("host", failure.host);
  v("exit_code", failure.exit_code), v("signal", OrNull(failure.signal)), v("at", OrNull(failure.at));
  v("at_error", Seconds(failure.at_error)), v("spawn_stage", OrNull(failure.spawn_stage));
  v("last_lines", failure.last_lines), v("why", failure.why), v("hint", OrNull(failure.analysis.hint));
  v("error", failure.analysis.error), v("evidence", failure.analysis.evidence), v("others", failure.analysis.others);
  v("unordered", failure.analysis.unordered), v("doubts", failure.analysis.doubts), v("signs", failure.analysis.signs);
  v("timeline", failure.analysis.timeline);
}

template <class V>
void Parts(V& v, const AttemptReport& attempt) {
  v("attempt", attempt.attempt), v("host", attempt.host), v("pid", attempt.pid);
  v("started_at", OrNull(attempt.started_at)), v("ended_at", OrNull(attempt.ended_at));
  v("exit_code", attempt.exit_code), v("signal", OrNull(attempt.signal)), v("core_dumped", attempt.core_dumped);
  v("spawn_stage", OrNull(attempt.spawn_stage)), v("user_seconds", Seconds(attempt.user_seconds));
  v("system_seconds", Seconds(attempt.system_seconds)), v("max_rss_kib", attempt.max_rss_kib);
  v("evidence", attempt.evidence);
}

template <class V>
void Parts(V& v, const ContextReport::Change& change) {
  v("function", change.function), v("attribute", change.attribute), v("planned", change.planned);
  v("found", change.found);
}

template <class V>
void Parts(V& v, const ContextReport::Problem& problem) {
  v("kind", problem.kind), v("message", problem.message);
}

template <class V>
void Parts(V& v, const ContextReport& context) {
  v("role", context.role), v("indices", context.indices), v("state", context.state);
  v("release", OrNull(context.release)), v("expected", context.expected), v("overridden", context.overridden);
  v("errors", context.errors);
}

template <class V>
void Parts(V& v, const ActivationReport& activation) {
  v("host", activation.host), v("seconds", Seconds(activation.seconds)), v("set", activation.set);
  v("unset", activation.unset), v("failed_step", OnlyIfSet(activation.failed_step));
  v("error", OrNull(activation.error)), v("log", activation.log), v("last_lines", activation.last_lines);
}

template <class V>
void Parts(V& v, const CodeSeen& seen) {
  v("folder", seen.folder), v("commit", OrNull(seen.commit)), v("branch", OrNull(seen.branch));
  v("changed", seen.changed), v("untracked", seen.untracked), v("names", seen.names);
}

// To one host.
template <class V>
void Parts(V& v, const CodeShipped& shipped) {
  v("host", shipped.host), v("folder", shipped.folder), v("sent", shipped.sent);
}

struct ShippedCode {
  const std::vector<CodeShipped>& hosts;
};
template <class V>
void Parts(V& v, const ShippedCode& shipped) {
  const CodeShipped& first = shipped.hosts.front();
  v("hash", first.hash), v("from", first.from), v("files", first.files), v("bytes", first.bytes);
  v("hosts", shipped.hosts);
}

template <class V>
void Parts(V& v, const CodeReport& code) {
  v("git", code.seen);
  v("shipped", code.shipped.empty() ? std::nullopt : std::optional(ShippedCode{code.shipped}));
}

template <class V>
void Parts(V& v, const FaultReport& reported) {
  const FaultInjected& fault = reported.fault;
  const bool of_process = !fault.process.empty();
  v("what", FaultText(fault)), v("kind", kFaultKindNames[static_cast<std::size_t>(fault.kind)]);
  v("process", OrNull(fault.process)), v("attempt", of_process ? std::optional(fault.attempt) : std::nullopt);
  v("host", OrNull(fault.host)), v("lasts_seconds", OnlyIfSet(static_cast<double>(fault.lasts_ms) / 1000));
  v("at", OrNull(reported.at));
}

template <class V>
void Parts(V& v, const RestartReport& restart) {
  v("role", restart.role), v("index", restart.index), v("attempt", restart.attempt), v("scope", restart.scope);
  v("processes", restart.processes), v("at", OrNull(restart.at)), v("why", restart.why);
}

template <class V>
void Parts(V& v, const FailureJudged& judged) {
  v("verdict", RestartVerdictName(judged.verdict)), v("rule", judged.rule), v("evidence", judged.evidence);
  v("obeyed", judged.obeyed);
}

struct ReportedFailure {
  const RecordedFailure& failure;
  const ProcessReport* process;  // null: none was running on the lost host
};
template <class V>
void Parts(V& v, const ReportedFailure& reported) {
  const auto& [failure, process] = reported;
  const FailureFingerprint& fingerprint = failure.fingerprint;
  v("fingerprint", fingerprint.Id()), v("class", FailureClassName(fingerprint.of)), v("how", OrNull(fingerprint.how));
  v("frame", OrNull(fingerprint.frame)), v("line", OrNull(fingerprint.line));
  v("role", process == nullptr ? std::nullopt : std::optional(process->role));
  v("index", process == nullptr ? std::nullopt : std::optional(process->index));
  v("attempt", failure.attempt), v("host", failure.host), v("at", OrNull(failure.at)), v("step", failure.step);
  v("ready", failure.ready), v("ended_run", failure.ended_run);
  v("verdict", failure.judged), v("fault", MayBeMissing(OrNull(failure.fault)));
}

template <class V>
void Parts(V& v, const ReplacementReport& replacement) {
  v("host", replacement.host), v("by", replacement.by), v("at", OrNull(replacement.at)), v("why", replacement.why);
}

template <class V>
void Parts(V& v, const RoleMetrics& metrics) {
  v("role", metrics.role), v("index", metrics.index), v("last", metrics.last), v("lines", metrics.lines);
  v("bad_lines", metrics.bad_lines),
      v("not_finite", MayBeMissing(std::vector(metrics.not_finite.begin(), metrics.not_finite.end())));
}

template <class T>
struct PeakAndMean {
  T peak;
  T mean;
};
template <class V, class T>
void Parts(V& v, const PeakAndMean<T>& usage) {
  v("peak", usage.peak), v("mean", usage.mean);
}

template <class V>
void Parts(V& v, const UsageSummary& usage) {
  using Kib = PeakAndMean<std::uint64_t>;
  const auto rounded = [](double cores) { return std::round(cores * 1e3) / 1e3; };
  v("samples", usage.samples), v("cores", PeakAndMean<double>{rounded(usage.peak_cores), rounded(usage.mean_cores)});
  v("memory_kib", Kib{usage.peak_memory_kib, usage.mean_memory_kib});
  v("device_memory_kib",
    usage.peak_device_kib ? std::optional(Kib{*usage.peak_device_kib, *usage.mean_device_kib}) : std::nullopt);
}

template <class V>
void Parts(V& v, const ProcessReport& process) {
  v("role", process.role), v("index", process.index), v("rank", process.rank), v("host", process.host);
  v("devices", process.devices), v("cores", OrNull(process.cores)), v("attempts", process.attempts);
  v("verdict", process.verdict);
  v("usage", OnlyIf(process.usage.has_value(), process.usage));
}

template <class V>
void Parts(V& v, const JobAttempt& attempt) {
  v("run", attempt.run), v("run_dir", attempt.run_dir), v("host", attempt.host), v("end", OrNull(attempt.end));
  v("lost", OrNull(attempt.lost)), v("requeued", attempt.requeued);
  v("verdict", OnlyIf(!attempt.verdict.empty(), attempt.verdict));
  v("evidence", OnlyIf(!attempt.verdict.empty(), attempt.evidence));
  v("excluded", OnlyIf(!attempt.excluded.empty(), attempt.excluded));
}

template <class V>
void Parts(V& v, const JobEnd& end) {
  v("state", end.state), v("reason", OrNull(end.reason)), v("hosts", OrNull(end.hosts));
  v("exit_code", end.exit_code);
}

template <class V>
void Parts(V& v, const JobReport& job) {
  v("engine", job.engine), v("id", OrNull(job.job)), v("attempt", job.attempt), v("end", OrNull(job.end));
  v("said", job.said), v("attempts", job.attempts);
}

template <class V>
void Parts(V& v, const Report::Resumed& resumed) {
  v("run", resumed.run), v("checkpoint", resumed.checkpoint);
}

template <class V>
void Parts(V& v, const Receipt& receipt) {
  v("started", receipt.started), v("reaped", receipt.reaped), v("left", receipt.left);
  v("attested", receipt.attested), v("adopted", receipt.adopted), v("by", receipt.by);
}

struct AllTimings {
  const Timings& run;
  const Startup& startup;
};
template <class V>
void Parts(V& v, const AllTimings& timings) {
  const Timings& t = timings.run;
  v("plan", Seconds(t.plan)), v("connect", Seconds(t.connect)), v("spawn", Seconds(t.spawn)), v("run", Seconds(t.run));
  v("linger", Seconds(t.linger)), v("stop", Seconds(t.stop)), v("finish", Seconds(t.finish));
  v("total", Seconds(t.total)), v("startup", timings.startup);
}

struct ReportedFile {
  const EvidenceFile& file;
  std::string owner;
};
template <class V>
void Parts(V& v, const ReportedFile& reported) {
  v("path", reported.file.path), v("what", reported.file.what), v("process", OrNull(reported.owner));
}

template <class V>
void Parts(V& v, const DroppedLog& log) {
  v("log", log.log), v("bytes", log.bytes), v("limit", log.limit), v("by", OrNull(log.by));
}

template <class V>
void Parts(V& v, const StackFrame& frame) {
  v("function", frame.function), v("file", OrNull(frame.file)), v("line", OnlyIfSet(frame.line));
}

template <class V>
void Parts(V& v, const ThreadState& thread) {
  v("tid", thread.tid), v("alike", thread.alike), v("name", thread.name), v("state", OrNull(thread.state));
  v("wait", OrNull(thread.wait)), v("call", OrNull(thread.call)), v("target", OrNull(thread.target));
  v("frames", thread.frames);
}

template <class V>
void Parts(V& v, const SystemProcessState& state) {
  v("pid", state.pid), v("parent", state.parent), v("program", state.program);
  v("cpu_seconds", Seconds(InSeconds(state.cpu_ns))), v("threads_seen", state.threads_seen), v("by", OrNull(state.by));
  v("threads", state.threads);
}

struct SilentSeconds {
  double least;
  double most;
};
template <class V>
void Parts(V& v, const SilentSeconds& silent) {
  v("least", Seconds(silent.least)), v("most", Seconds(silent.most));
}

template <class V>
void Parts(V& v, const DumpGroup& group) {
  Parts(v, group.who);
  v("outlier", group.outlier), v("busiest", Seconds(group.busiest));
  v("silent_seconds", SilentSeconds{group.quietest_seconds, group.longest_seconds});
  v("last_line", OrNull(group.last_line));
  v("place", group.state() == nullptr ? std::nullopt : std::optional(group.place));
  v("window_seconds", Seconds(InSeconds(group.first.window_ns))), v("system_processes", group.first.states);
}

struct NoteOfHost {
  const std::string& host;
  const DumpNote& note;
};
template <class V>
void Parts(V& v, const NoteOfHost& of_host) {
  v("host", of_host.host), v("kind", of_host.note.kind), v("detail", OrNull(of_host.note.detail));
}

template <class V>
void Parts(V& v, const DumpReport& dump) {
  std::vector<NoteOfHost> notes;
  for (const auto& [host, note] : dump.notes) notes.push_back({host, note});
  v("dump", dump.number), v("at", dump.at), v("why", dump.why), v("complete", dump.complete);
  v("folder", dump.folder), v("groups", dump.groups), v("unheard", dump.unheard), v("notes", notes);
}

// With the directory, which is no part of the files.
struct DumpOfRun {
  const std::string& run_dir;
  const DumpReport& dump;
};
template <class V>
void Parts(V& v, const DumpOfRun& of_run) {
  v("format", 1), v("run_dir", of_run.run_dir);
  Parts(v, of_run.dump);
}

struct ReportOfRun {
  const Report& report;
  const std::string& run_dir;  // may be empty
};
template <class V>
void Parts(V& v, const ReportOfRun& of_run) {
  const Report& report = of_run.report;
  std::vector<ReportedFile> files;
  for (const EvidenceFile& file : report.files) {
    const ProcessReport* owner = file.process ? &report.processes[*file.process] : nullptr;
    files.push_back({file, owner == nullptr ? std::string() : owner->role + "." + std::to_string(owner->index)});
  }
  std::vector<ReportedFailure> failures;
  for (const RecordedFailure& failure : report.failures) {
    failures.push_back({failure, failure.process ? &report.processes[*failure.process] : nullptr});
  }
  v("format", 1), v("run", report.run), v("plan", report.plan), v("parent", OrNull(report.parent));
  v("resumed", report.resumed), v("checkpoint", OrNull(report.checkpoint));
  v("no_checkpoint", OrNull(report.no_checkpoint)), v("tags", report.tags), v("note", OrNull(report.note));
  v("metrics", report.metrics), v("rehearsal", report.rehearsal), v("drill", MayBeMissing(report.drill));
  v("outcome", report.outcome);
  v("exit_code", report.outcome == "running" ? std::nullopt : std::optional(report.exit_code));
  v("why", OrNull(report.why)), v("job", report.job), v("first_failure", report.first_failure);
  v("code", report.code), v("activations", report.activations), v("faults", MayBeMissing(report.faults));
  v("failures", MayBeMissing(failures));
  v("restarts", report.restarts);
  v("replacements", report.replacements), v("dumps", report.dumps), v("processes", report.processes);
  v("contexts", report.contexts), v("receipt", report.receipt);
  v("timings", AllTimings{report.timings, report.startup});
  v("files", OnlyIf(!files.empty(), files)), v("unreadable_logs", As<UnlessNone>(report.unreadable_logs));
  v("dropped_logs", OnlyIf(!report.dropped_logs.empty(), report.dropped_logs));
  v("run_dir", As<UnlessNone>(of_run.run_dir));
}

template <class T>
std::string JsonLines(const T& value) {
  std::string text;
  JsonWriter(text, ReportForms(), 1).Put(value);
  return text + "\n";
}

}  // namespace

std::string ReportJson(const Report& report, const std::string& run_dir) {
  return JsonLines(ReportOfRun{report, run_dir});
}

std::string DumpJson(const DumpReport& dump) { return JsonLines(dump); }

std::string DumpJsonText(const std::string& run_dir, const DumpReport& dump) {
  return JsonLines(DumpOfRun{run_dir, dump});
}

// Of values with an element wherever an element has no default.

std::string ReportSchema() {
  Report report;
  report.files.emplace_back();
  report.code.shipped.emplace_back();
  report.dumps.push_back({});
  report.dumps.front().notes.push_back({});
  report.failures.emplace_back().judged.emplace();
  const std::string run_dir;
  return SchemaOf<ReportForms>(ReportOfRun{report, run_dir}, SchemaBounds::kIgnored);
}

std::string DumpSchema(bool of_run) {
  DumpReport dump;
  dump.notes.push_back({});
  const std::string run_dir;
  return of_run ? SchemaOf<ReportForms>(DumpOfRun{run_dir, dump}, SchemaBounds::kIgnored)
                : SchemaOf<ReportForms>(dump, SchemaBounds::kIgnored);
}

}  // namespace muster
