#include "run/report/report_json.h"

#include "base/values/number_text.h"
#include "base/values/value_text.h"
#include "run/report/report.h"
#include "settings/values/value_json.h"

namespace muster {

// Writes report.json: ReportJson of report.h. The only file that contains its keys.

namespace {

using namespace report_json;

template <class T>
Json OrNull(const std::optional<T>& value) {
  return value ? Json(*value) : Json(nullptr);
}

Json Lines(const std::vector<std::string>& lines) {
  Json json = Json::array();
  for (const std::string& line : lines) json.push_back(Plain(line));
  return json;
}

Json NoteJson(const std::optional<ErrorNote>& note) {
  if (!note) return nullptr;
  if (!note->unreadable.empty()) return {{"unreadable", Plain(note->unreadable)}};
  Json more = Json::object();
  for (const auto& [name, value] : note->more) more[Plain(name).get<std::string>()] = ToJson(value);
  return {{"message", Plain(note->message)},
          {"at", TextOrNull(note->at)},
          {"traceback", Lines(note->traceback)},
          {"more", std::move(more)}};
}

Json OthersJson(const std::vector<FailedGroup>& groups) {
  Json json = Json::array();
  for (const FailedGroup& group : groups) {
    Json other = MembersJson(group.who);
    other["why"] = Plain(group.why);
    other["last_lines"] = Lines(group.lines);
    other["alike"] = group.alike;
    other["hint"] = TextOrNull(group.hint);
    other["error"] = NoteJson(group.error);
    other["evidence"] = Lines(group.evidence);
    json.push_back(std::move(other));
  }
  return json;
}

Json TimelineJson(const std::vector<TimelineEntry>& timeline) {
  Json json = Json::array();
  for (const TimelineEntry& entry : timeline) {
    json.push_back({{"from", Seconds(entry.from)},
                    {"to", Seconds(entry.to)},
                    {"what", Plain(entry.what)},
                    {"who", MembersJson(entry.who)}});
  }
  return json;
}

Json StepJson(const std::optional<StartupStep>& step) {
  if (!step) return nullptr;
  return {{"processes", step->processes},
          {"median", Seconds(step->median)},
          {"slowest", Seconds(step->slowest)},
          {"index", step->index}};
}

Json StartupJson(const Startup& startup) {
  Json roles = Json::array();
  for (const RoleStartup& role : startup.roles) {
    roles.push_back({{"role", role.role},
                     {"processes", role.processes},
                     {"ordered", Seconds(role.ordered)},
                     {"spawn", StepJson(role.spawn)},
                     {"ready", StepJson(role.ready)},
                     {"first_output", StepJson(role.first_output)}});
  }
  return {{"evaluate", Seconds(startup.evaluate)},
          {"plan", Seconds(startup.plan)},
          {"agent", Seconds(startup.agent)},
          {"activate", Seconds(startup.activate)},
          {"wait", Seconds(startup.wait)},
          {"bind", Seconds(startup.bind)},
          {"roles", std::move(roles)}};
}

Json DoubtsJson(const std::vector<UncertainOrder>& doubts) {
  Json json = Json::array();
  for (const UncertainOrder& doubt : doubts) {
    json.push_back({{"host", TextOrNull(doubt.host)},
                    {"who", MembersJson(doubt.who)},
                    {"after", doubt.after ? Seconds(*doubt.after) : Json(nullptr)},
                    {"within", doubt.after ? Seconds(doubt.within) : Json(nullptr)}});
  }
  return json;
}

Json SignsJson(const std::vector<EarlierSign>& signs) {
  Json json = Json::array();
  for (const EarlierSign& sign : signs) {
    json.push_back({{"who", MembersJson(sign.who)},
                    {"what", Plain(sign.what)},
                    {"before", sign.before ? Seconds(*sign.before) : Json(nullptr)}});
  }
  return json;
}

Json FailureJson(const FailureReport& failure) {
  return {{"role", failure.role},
          {"index", failure.index},
          {"rank", OrNull(failure.rank)},
          {"host", Plain(failure.host)},
          {"exit_code", OrNull(failure.exit_code)},
          {"signal", TextOrNull(failure.signal)},
          {"at", TextOrNull(failure.at)},
          {"at_error", failure.at_error ? Seconds(*failure.at_error) : Json(nullptr)},
          {"spawn_stage", TextOrNull(failure.spawn_stage)},
          {"last_lines", Lines(failure.last_lines)},
          {"why", Plain(failure.why)},
          {"hint", TextOrNull(failure.account.hint)},
          {"error", NoteJson(failure.account.error)},
          {"evidence", Lines(failure.account.evidence)},
          {"others", OthersJson(failure.account.others)},
          {"unordered", MembersJson(failure.account.unordered)},
          {"doubts", DoubtsJson(failure.account.doubts)},
          {"signs", SignsJson(failure.account.signs)},
          {"timeline", TimelineJson(failure.account.timeline)}};
}

Json AttemptJson(const AttemptReport& attempt) {
  return ObjectOf("attempt", attempt.attempt,                         //
                  "host", Plain(attempt.host),                        //
                  "pid", OrNull(attempt.pid),                         //
                  "started_at", TextOrNull(attempt.started_at),       //
                  "ended_at", TextOrNull(attempt.ended_at),           //
                  "exit_code", OrNull(attempt.exit_code),             //
                  "signal", TextOrNull(attempt.signal),               //
                  "core_dumped", attempt.core_dumped,                 //
                  "spawn_stage", TextOrNull(attempt.spawn_stage),     //
                  "user_seconds", Seconds(attempt.user_seconds),      //
                  "system_seconds", Seconds(attempt.system_seconds),  //
                  "max_rss_kib", attempt.max_rss_kib,                 //
                  "evidence", Lines(attempt.evidence));
}

// Names and messages were written by the launched programs as UTF-8, which is sufficient for JSON.
Json ContextJson(const ContextReport& context) {
  Json overridden = Json::array();
  for (const ContextReport::Change& change : context.overridden) {
    overridden.push_back({{"function", change.function},
                          {"attribute", change.attribute},
                          {"planned", ToJson(change.planned)},
                          {"found", ToJson(change.found)}});
  }
  Json errors = Json::array();
  for (const ContextReport::Problem& problem : context.errors) {
    errors.push_back({{"kind", problem.kind}, {"message", problem.message}});
  }
  return {{"role", context.role},
          {"indices", context.indices},
          {"state", context.state},
          {"release", TextOrNull(context.release)},
          {"expected", Plain(context.expected)},
          {"overridden", std::move(overridden)},
          {"errors", std::move(errors)}};
}

Json ActivationJson(const ActivationReport& activation) {
  return {{"host", Plain(activation.host)},
          {"seconds", Seconds(activation.seconds)},
          {"set", Lines(activation.set)},
          {"unset", Lines(activation.unset)},
          {"failed_step", activation.failed_step == 0 ? Json(nullptr) : Json(activation.failed_step)},
          {"error", TextOrNull(activation.error)},
          {"log", Plain(activation.log)},
          {"last_lines", Lines(activation.last_lines)}};
}

// Names in it are file names reported by git.
Json CodeJson(const CodeReport& code) {
  Json seen = nullptr;
  if (code.seen) {
    seen = {{"folder", Plain(code.seen->folder)},      {"commit", TextOrNull(code.seen->commit)},
            {"branch", TextOrNull(code.seen->branch)}, {"changed", code.seen->changed},
            {"untracked", code.seen->untracked},       {"names", Lines(code.seen->names)}};
  }
  Json shipped = nullptr;
  if (!code.shipped.empty()) {
    const CodeShipped& first = code.shipped.front();
    Json hosts = Json::array();
    for (const CodeShipped& each : code.shipped) {
      hosts.push_back({{"host", each.host}, {"folder", Plain(each.folder)}, {"sent", each.sent}});
    }
    shipped = {{"hash", first.hash},
               {"from", Plain(first.from)},
               {"files", first.files},
               {"bytes", first.bytes},
               {"hosts", std::move(hosts)}};
  }
  return {{"git", std::move(seen)}, {"shipped", std::move(shipped)}};
}

Json RestartJson(const RestartReport& restart) {
  return {{"role", restart.role},     {"index", restart.index},         {"attempt", restart.attempt},
          {"scope", restart.scope},   {"processes", restart.processes}, {"at", TextOrNull(restart.at)},
          {"why", Plain(restart.why)}};
}

Json ReplacementJson(const ReplacementReport& replacement) {
  return {{"host", Plain(replacement.host)},
          {"by", Plain(replacement.by)},
          {"at", TextOrNull(replacement.at)},
          {"why", Plain(replacement.why)}};
}

Json MetricsJson(const std::vector<RoleMetrics>& all) {
  Json json = Json::array();
  for (const RoleMetrics& metrics : all) {
    Json last = Json::object();
    for (const auto& [name, value] : metrics.last) last[name] = Json::parse(JsonText(value));
    json.push_back({{"role", metrics.role},
                    {"index", metrics.index},
                    {"last", std::move(last)},
                    {"lines", metrics.lines},
                    {"bad_lines", metrics.bad_lines}});
  }
  return json;
}

Json UsageJson(const UsageSummary& usage) {
  const auto rounded = [](double cores) { return std::round(cores * 1e3) / 1e3; };
  Json json = {{"samples", usage.samples},
               {"cores", {{"peak", rounded(usage.peak_cores)}, {"mean", rounded(usage.mean_cores)}}},
               {"memory_kib", {{"peak", usage.peak_memory_kib}, {"mean", usage.mean_memory_kib}}},
               {"device_memory_kib", nullptr}};
  if (usage.peak_device_kib) {
    json["device_memory_kib"] = {{"peak", *usage.peak_device_kib}, {"mean", *usage.mean_device_kib}};
  }
  return json;
}

}  // namespace

std::string ReportJson(const Report& report, const std::string& run_dir) {
  Json processes = Json::array();
  for (const ProcessReport& process : report.processes) {
    Json attempts = Json::array();
    for (const AttemptReport& attempt : process.attempts) attempts.push_back(AttemptJson(attempt));
    processes.push_back(ObjectOf("role", process.role,                //
                                 "index", process.index,              //
                                 "rank", OrNull(process.rank),        //
                                 "host", Plain(process.host),         //
                                 "devices", Lines(process.devices),   //
                                 "cores", TextOrNull(process.cores),  //
                                 "attempts", std::move(attempts),     //
                                 "verdict", process.verdict));
    if (process.usage) processes.back()["usage"] = UsageJson(*process.usage);
  }
  Json contexts = Json::array();
  for (const ContextReport& context : report.contexts) contexts.push_back(ContextJson(context));
  Json activations = Json::array();
  for (const ActivationReport& activation : report.activations) activations.push_back(ActivationJson(activation));
  Json restarts = Json::array();
  for (const RestartReport& restart : report.restarts) restarts.push_back(RestartJson(restart));
  Json replacements = Json::array();
  for (const ReplacementReport& each : report.replacements) replacements.push_back(ReplacementJson(each));
  Json dumps = Json::array();
  for (const DumpReport& dump : report.dumps) dumps.push_back(DumpJson(dump));
  const Timings& t = report.timings;
  Json json = {{"format", 1},
               {"run", Plain(report.run)},
               {"plan", Plain(report.plan)},
               {"parent", TextOrNull(report.parent)},
               {"resumed", report.resumed ? Json{{"run", Plain(report.resumed->run)},
                                                 {"checkpoint", Plain(report.resumed->checkpoint)}}
                                          : Json(nullptr)},
               {"checkpoint", TextOrNull(report.checkpoint)},
               {"no_checkpoint", TextOrNull(report.no_checkpoint)},
               {"tags", report.tags},
               {"note", TextOrNull(report.note)},
               {"metrics", MetricsJson(report.metrics)},
               {"rehearsal", report.rehearsal},
               {"outcome", report.outcome},
               {"exit_code", report.outcome == "running" ? Json(nullptr) : Json(report.exit_code)},
               {"why", TextOrNull(report.why)},
               {"job", report.job ? JobJson(*report.job) : Json(nullptr)},
               {"first_failure", report.first_failure ? FailureJson(*report.first_failure) : Json(nullptr)},
               {"code", CodeJson(report.code)},
               {"activations", std::move(activations)},
               {"restarts", std::move(restarts)},
               {"replacements", std::move(replacements)},
               {"dumps", std::move(dumps)},
               {"processes", std::move(processes)},
               {"contexts", std::move(contexts)},
               {"receipt",
                {{"started", report.receipt.started},
                 {"reaped", report.receipt.reaped},
                 {"left", report.receipt.left},
                 {"attested", report.receipt.attested},
                 {"adopted", report.receipt.adopted},
                 {"by", Lines(report.receipt.by)}}},
               {"timings",
                {{"plan", Seconds(t.plan)},
                 {"connect", Seconds(t.connect)},
                 {"spawn", Seconds(t.spawn)},
                 {"run", Seconds(t.run)},
                 {"linger", Seconds(t.linger)},
                 {"stop", Seconds(t.stop)},
                 {"finish", Seconds(t.finish)},
                 {"total", Seconds(t.total)},
                 {"startup", StartupJson(report.startup)}}}};
  for (const EvidenceFile& file : report.files) {
    const ProcessReport* owner = file.process ? &report.processes[*file.process] : nullptr;
    json["files"].push_back(
        {{"path", file.path},
         {"what", Plain(file.what)},
         {"process", owner == nullptr ? Json(nullptr) : Json(owner->role + "." + std::to_string(owner->index))}});
  }
  for (const std::string& log : report.unreadable_logs) json["unreadable_logs"].push_back(log);
  for (const DroppedLog& log : report.dropped_logs) {
    json["dropped_logs"].push_back(
        {{"log", log.log}, {"bytes", log.bytes}, {"limit", log.limit}, {"by", TextOrNull(log.by)}});
  }
  if (!run_dir.empty()) json["run_dir"] = Plain(run_dir);
  return SerializedJson(json, 1) + "\n";
}

namespace {

using namespace report_json;

Json ThreadJson(const ThreadState& thread) {
  Json frames = Json::array();
  for (const StackFrame& frame : thread.frames) {
    frames.push_back({{"function", Plain(frame.function)},
                      {"file", TextOrNull(frame.file)},
                      {"line", frame.line == 0 ? Json(nullptr) : Json(frame.line)}});
  }
  return {{"tid", thread.tid},
          {"alike", thread.alike},
          {"name", Plain(thread.name)},
          {"state", TextOrNull(thread.state)},
          {"wait", TextOrNull(thread.wait)},
          {"call", TextOrNull(thread.call)},
          {"target", TextOrNull(thread.target)},
          {"frames", std::move(frames)}};
}

Json StateJson(const SystemProcessState& state) {
  Json threads = Json::array();
  for (const ThreadState& thread : state.threads) threads.push_back(ThreadJson(thread));
  return {{"pid", state.pid},
          {"parent", state.parent},
          {"program", Plain(state.program)},
          {"cpu_seconds", Seconds(InSeconds(state.cpu_ns))},
          {"threads_seen", state.threads_seen},
          {"by", TextOrNull(state.by)},
          {"threads", std::move(threads)}};
}

Json GroupJson(const DumpGroup& group) {
  Json json = MembersJson(group.who);
  json["outlier"] = group.outlier;
  json["busiest"] = Seconds(group.busiest);
  json["silent_seconds"] = {{"least", Seconds(group.quietest_seconds)}, {"most", Seconds(group.longest_seconds)}};
  json["last_line"] = TextOrNull(group.last_line);
  json["place"] = group.state() == nullptr ? Json(nullptr) : Json(group.place);
  json["window_seconds"] = Seconds(InSeconds(group.first.window_ns));
  json["system_processes"] = Json::array();
  for (const SystemProcessState& state : group.first.states) json["system_processes"].push_back(StateJson(state));
  return json;
}

}  // namespace

nlohmann::ordered_json DumpJson(const DumpReport& dump) {
  Json groups = Json::array();
  for (const DumpGroup& group : dump.groups) groups.push_back(GroupJson(group));
  Json notes = Json::array();
  for (const auto& [host, note] : dump.notes) {
    notes.push_back({{"host", Plain(host)}, {"kind", Plain(note.kind)}, {"detail", TextOrNull(note.detail)}});
  }
  return {{"dump", dump.number},
          {"at", dump.at},
          {"why", Plain(dump.why)},
          {"complete", dump.complete},
          {"folder", dump.folder},
          {"groups", std::move(groups)},
          {"unheard", MembersJson(dump.unheard)},
          {"notes", std::move(notes)}};
}

std::string DumpJsonText(const std::string& run_dir, const DumpReport& dump) {
  Json json = {{"format", 1}, {"run_dir", Plain(run_dir)}};
  json.update(DumpJson(dump));
  return SerializedJson(json, 1) + "\n";
}

}  // namespace muster
