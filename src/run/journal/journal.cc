#include "run/journal/journal.h"

#include <algorithm>
#include <cstddef>

#include <errno.h>
#include <fcntl.h>
#include <fmt/format.h>

#include "base/system/clock.h"
#include "base/system/private_files.h"
#include "base/values/quoting.h"
#include "base/values/utf8_text.h"
#include "base/values/value_json.h"
#include "muster/value.h"
#include "run/lines/json_lines.h"
#include "wire/archive/archive.h"
#include "wire/archive/json_schema.h"
#include "wire/files/run_layout.h"
#include "wire/protocol/event_fields.h"

namespace muster {

// Describes the fields of the records that the head adds to the events of a run, once for all uses in the journal
// (docs/journal.md). Fields of events: wire/protocol/event_fields.h.
//
// Lines have the fields in this order; members of nested objects are in the order of their names.

template <class V>
void Fields(V& v, RunBegan& e) {
  v("format", e.format), v("run", e.run_id), v("plan", e.plan_id), v("name", e.name), v("pid", e.pid),
      v("pass_exit_code", e.pass_exit_code), v("plan_ns", e.plan_ns), v("evaluate_ns", e.evaluate_ns),
      v("start_ticks", e.start_ticks), v("boot", e.boot), v("lockdown", e.lockdown), v("parent", e.parent),
      v("tags", e.tags), v("descriptors", e.descriptors), v("memory_kib", e.memory_kib), v("rehearsal", e.rehearsal),
      v("drill", MayBeMissing(e.drill));
}
template <class V>
void Fields(V& v, AgentConnected& e) {
  v("host", e.host), v("pid", e.pid), v("start_ticks", e.start_ticks), v("host_name", e.host_name),
      v("mechanisms", e.mechanisms), v("cgroup", e.cgroup), v("descriptors", e.descriptors),
      v("memory_kib", e.memory_kib);
}
template <class V>
void Fields(V& v, PlanBound& e) {
  v("run_dir", e.run_dir), v("hosts", e.hosts), v("ports", e.ports), v("cores", e.cores);
}
template <class V>
void Fields(V& v, HostBinding& e) {
  v("address", e.address), v("devices", e.devices), v("name", e.name);
}
template <class V>
void Fields(V& v, PreparationFailed& e) {
  v("why", e.why);
}
template <class V>
void Fields(V& v, StartOrdered& e) {
  v("process", e.process), v("attempt", e.attempt);
}
template <class V>
void Fields(V& v, StopOrdered& e) {
  v("processes", e.processes), v("signal", e.signal), v("grace_ms", e.grace_ms);
}
template <class V>
void Fields(V& v, PhaseChanged& e) {
  v("from", WithNames(e.from, kPhaseNames)), v("to", WithNames(e.to, kPhaseNames));
}
template <class V>
void Fields(V& v, FirstFailure& e) {
  v("process", e.process), v("attempt", e.attempt);
}
template <class V>
void Fields(V& v, FailureTraced& e) {
  v("process", e.process), v("attempt", e.attempt);
}
template <class V>
void Fields(V& v, RestartPlanned& e) {
  v("process", e.process), v("attempt", e.attempt), v("scope", e.scope), v("processes", e.processes),
      v("count", e.count), v("max", e.max), v("delay_ms", e.delay_ms), v("why", e.why);
}
template <class V>
void Fields(V& v, FailureJudged& e) {
  v("process", e.process), v("attempt", e.attempt), v("host", e.host), v("host_name", e.host_name);
  v("class", e.failure_class), v("fingerprint", e.fingerprint), v("what", e.what), v("step", e.step);
  v("checkpoint", e.checkpoint), v("checkpoint_at", e.checkpoint_at), v("ready", e.ready), v("alone", e.alone),
      v("shape", e.shape);
  v("replaceable", e.replaceable), v("verdict", WithNames(e.verdict, kRestartVerdictNames)), v("rule", e.rule);
  v("evidence", e.evidence), v("obeyed", e.obeyed), v("host_unclear", MayBeMissing(e.host_unclear));
}
template <class V>
void Fields(V& v, LimitPassed& e) {
  v("process", e.process), v("attempt", e.attempt), v("limit", e.limit), v("ms", e.ms),
      v("apart", MayBeMissing(e.apart));
}
template <class V>
void Fields(V&, RebindOrdered&) {}
template <class V>
void Fields(V& v, EndedEarly& e) {
  v("process", e.process), v("attempt", e.attempt);
}
template <class V>
void Fields(V& v, StrayEvent& e) {
  v("what", e.what);
}
template <class V>
void Fields(V& v, HostStray& e) {
  v("host", e.host), v("what", e.what);
}
template <class V>
void Fields(V& v, EngineAnswered& e) {
  v("host", e.host), v("what", e.what);
}
template <class V>
void Fields(V& v, FaultInjected& e) {
  v("kind", WithNames(e.kind, kFaultKindNames)), v("process_name", e.process), v("on_attempt", e.attempt);
  v("host_name", e.host), v("lasts_ms", e.lasts_ms), v("machine", MayBeMissing(e.machine));
  v("directory", MayBeMissing(e.directory));
}
template <class V>
void Fields(V&, FinishOrdered&) {}
template <class V>
void Fields(V& v, RunEnded& e) {
  v("cause", WithNames(e.cause, kCauseNames)), v("exit_code", e.exit_code), v("why", e.why),
      v("descriptors", e.descriptors), v("memory_kib", e.memory_kib);
}
template <class V>
void Fields(V& v, HostReached& e) {
  v("host", e.host), v("name", e.name), v("address", e.address), v("shares_run_dir", e.shares_run_dir);
}
template <class V>
void Fields(V& v, HostFault& e) {
  v("hint", e.hint), v("hosts", e.hosts), v("kind", e.kind), v("text", e.text);
}
template <class V>
void Fields(V& v, HostVariant& e) {
  v("hosts", e.hosts), v("value", e.value);
}
template <class V>
void Fields(V& v, HostDifference& e) {
  v("subject", e.subject), v("variants", e.variants);
}
template <class V>
void Fields(V& v, HostsCompared& e) {
  v("faults", e.faults), v("differences", e.differences);
}
template <class V>
void Fields(V& v, PathFailure& e) {
  v("from", e.from), v("number", e.number), v("port", e.port), v("to", e.to), v("why", e.why);
}
template <class V>
void Fields(V& v, PathsCompared& e) {
  v("tried", e.tried), v("faults", e.faults);
}
template <class V>
void Fields(V& v, CodeShipped& e) {
  v("host", e.host), v("hash", e.hash), v("from", e.from), v("folder", e.folder), v("files", e.files),
      v("bytes", e.bytes), v("sent", e.sent);
}
template <class V>
void Fields(V& v, CodeSeen& e) {
  v("folder", e.folder), v("commit", e.commit), v("branch", e.branch), v("changed", e.changed),
      v("untracked", e.untracked), v("names", e.names);
}
template <class V>
void Fields(V& v, DumpOrdered& e) {
  v("dump", e.dump), v("why", e.why);
}
template <class V>
void Fields(V& v, DumpEnded& e) {
  v("dump", e.dump), v("complete", e.complete);
}
template <class V>
void Fields(V& v, ReplaceOrdered& e) {
  v("host", e.host), v("by", e.by);
}

namespace {

// In the order of JournalEntry's alternatives.
constexpr EntryNames<JournalEntry> kEntryNames = {
    "run_began",       "agent_connected", "plan_bound",     "preparation_failed", "start_ordered",   "stop_ordered",
    "phase",           "first_failure",   "failure_traced", "ended_early",        "stray",           "finish_ordered",
    "run_ended",       "process_started", "spawn_failed",   "process_exited",     "signal_sent",     "agent_empty",
    "agent_lost",      "stop_requested",  "deadline",       "process_ready",      "output_seen",     "restart_planned",
    "limit_passed",    "first_output",    "end_evidence",   "port_taken",         "rebind_ordered",  "plan_rebound",
    "process_dumped",  "host_dumped",     "dump_requested", "dump_ordered",       "dump_ended",      "pty_opened",
    "pty_closed",      "host_activated",  "clock_compared", "host_reached",       "replace_ordered", "host_replaced",
    "hosts_compared",  "paths_compared",  "code_shipped",   "code_seen",          "checkpoint_seen", "host_stray",
    "devices_awaited", "engine_answered", "failure_judged", "fault_injected"};

// For all values of a line together: the binding of a million processes has three million. A value takes far more
// memory than its text.
constexpr std::ptrdiff_t kMaxValues = 4'000'000;
// Larger numbers are read and written as this one, so that two times can be added without overflow, of signed numbers,
// too. In nanoseconds since 1970 it is the year 2116.
constexpr std::uint64_t kMaxRecorded = (std::uint64_t{1} << 62U) - 1;

using Parsed = tl::expected<JournalRecord, std::string>;

Parsed Unreadable(std::string why) { return tl::unexpected<std::string>(std::move(why)); }

// The record whose object the reader has begun; its checksum may be omitted.
template <class Reader>
Parsed RecordOf(Reader& reader) {
  JournalRecord record;
  std::string name;
  reader("seq", record.seq), reader("wall", record.wall), reader("at", record.at), reader("event", name);
  if (!GetEntry(reader, kEntryNames, name, record.entry)) {
    return Unreadable(fmt::format("the event {} is not known", Quoted(name)));
  }
  if (!reader.AtEnd()) return Unreadable(fmt::format("the event {} lacks a field", Quoted(name)));
  return record;
}

// The record of one line (given without its newline), or why the line is invalid.
Parsed ReadLine(std::string_view line) {
  const auto body = OpenLine(line);
  if (!body) return Unreadable(body.error());
  if (std::count(line.begin(), line.end(), ',') > kMaxValues) return Unreadable("a line has too many values");
  if (IsUtf8(*body)) {
    LineReader reader(*body, kMaxRecorded);
    reader.Begin();
    if (Parsed record = RecordOf(reader)) return record;
  }
  // Lines that another program wrote: members in another order, or additional ones.
  const tl::expected<Value, std::string> json = ValueFromJsonText(line);
  if (!json || json->AsMap() == nullptr) return Unreadable("a line is not a JSON object");
  JsonReader reader(JsonReading::kOpen, kMaxRecorded);
  reader.Begin(*json);
  return RecordOf(reader);
}

}  // namespace

std::string_view EntryName(const JournalEntry& entry) { return kEntryNames[entry.index()]; }

std::string JournalSchema() {
  return SchemaOfEntries<JournalEntry>(kEntryNames, [](SchemaWriter<>& writer) {
    const JournalRecord record;
    writer("seq", record.seq), writer("wall", record.wall), writer("at", record.at);
  });
}

std::string JournalLine(const JournalRecord& record) {
  std::string line = "{";
  JsonWriter writer(line, kMaxRecorded);
  writer("seq", record.seq), writer("wall", record.wall), writer("at", record.at);
  PutEntry(writer, kEntryNames, record.entry);
  SealLine(line);
  return line;
}

std::optional<JournalRecord> ParseJournalLine(std::string_view line) {
  Parsed record = ReadLine(line);
  if (!record) return std::nullopt;
  return std::move(*record);
}

std::string ReadJournal(const std::string& path, const std::function<bool(JournalRecord record)>& take,
                        std::uint64_t max_bytes) {
  const UniqueFd file = OpenJournal(AT_FDCWD, path);
  if (!file) return SystemError("file", fmt::format("cannot read {}", Quoted(path)), errno).message;
  std::string stopped;
  bool too_long = false;
  ReadRecords(
      file.get(), {}, ReadLine,
      [&](JournalRecord&& record, JournalPosition end) {
        too_long = end.bytes > max_bytes;
        return !too_long && take(std::move(record));
      },
      stopped);
  return too_long ? fmt::format("it is longer than {} bytes", max_bytes) : stopped;
}

Result<JournalWriter> JournalWriter::Create(int folder, std::uint64_t room) {
  Result<UniqueFd> file = CreateFile(folder, kJournalEntry.name);
  if (!file) return Fail(std::move(file.error()));
  JournalWriter writer(JournalFile(std::move(*file), 0, room));
  const int error = writer.file_.ReserveSpace();
  if (error == 0) return writer;
  return Fail(SystemError("journal", fmt::format("the disk has no room for {} bytes of the journal", room), error));
}

void JournalWriter::Append(JournalEntry entry, std::uint64_t wall_ns, MonotonicNs at) {
  unwritten_ += JournalLine({++seq_, UtcText(wall_ns), at, std::move(entry)});
}

void JournalWriter::Write() {
  if (!unwritten_.empty()) error_ = file_.Write(unwritten_);
}

void JournalWriter::Sync() {
  if (const int error = file_.Sync(); error != 0) error_ = error;
}

namespace {

// Visits the fields of an entry and checks them by name: "process" is a process in every entry, "host" a host.
class Numbers {
 public:
  Numbers(std::uint64_t processes, std::uint64_t hosts) : processes_(processes), hosts_(hosts) {}

  template <class T>
  void operator()(std::string_view name, T&& field) {
    Check(name, Plain(field));
  }

  std::uint32_t process() const { return process_; }
  std::uint32_t attempt() const { return attempt_; }
  const std::string& problem() const { return problem_; }

 private:
  void Check(std::string_view name, std::uint32_t value) {
    if (name == "process") Process(value), process_ = value;
    if (name == "attempt") attempt_ = value;
    if (name == "host" || name == "by") Host(value);
  }
  void Check(std::string_view name, std::vector<std::uint32_t>& values) {
    if (name == "processes") Processes(values);
    if (name == "hosts" || name == "from" || name == "to") Hosts(values);
  }
  template <class T>
  requires requires(Numbers& numbers, T& element) { Fields(numbers, element); }
  void Check(std::string_view, std::vector<T>& parts) {
    for (T& part : parts) Fields(*this, part);
  }
  template <class T>
  void Check(std::string_view, T&) {}

  void Process(std::uint32_t process) {
    if (process >= processes_) problem_ = fmt::format("process {}, and the plan has {}", process, processes_);
  }
  void Processes(const std::vector<std::uint32_t>& processes) {
    for (const std::uint32_t process : processes) Process(process);
    if (processes.size() > processes_)
      problem_ = fmt::format("{} processes, and the plan has {}", processes.size(), processes_);
  }
  void Host(std::uint32_t host) {
    if (host >= hosts_) problem_ = fmt::format("host {}, and there cannot be more than {}", host, hosts_);
  }
  void Hosts(const HostSet& hosts) {
    for (const std::uint32_t host : hosts) Host(host);
    const bool ascend = std::adjacent_find(hosts.begin(), hosts.end(), std::greater_equal<>()) == hosts.end();
    if (!ascend) problem_ = "hosts that do not ascend";
  }

  std::uint64_t processes_;
  std::uint64_t hosts_;
  std::uint32_t process_ = 0;
  std::uint32_t attempt_ = 0;
  std::string problem_;
};

}  // namespace

PlanFit::PlanFit(const Plan& plan)
    : ordered_(plan.processes.size(), 0), hosts_(std::uint64_t{plan.hosts.size()} + kMaxSpares) {}

bool PlanFit::Take(const JournalRecord& record) {
  Numbers numbers(ordered_.size(), hosts_);
  // Numbers only reads the entry.
  std::visit([&]<class E>(const E& entry) { Fields(numbers, const_cast<E&>(entry)); }, record.entry);
  std::string problem = numbers.problem();
  if (problem.empty() && !ordered_.empty()) {
    std::uint32_t& ordered = ordered_[numbers.process()];
    const bool orders = std::holds_alternative<StartOrdered>(record.entry);
    if (orders ? numbers.attempt() != ordered : numbers.attempt() > 0 && numbers.attempt() >= ordered) {
      problem = fmt::format("attempt {} of process {}, and {} of it have been ordered", numbers.attempt(),
                            numbers.process(), ordered);
    } else if (orders) {
      ++ordered;
    }
  }
  if (problem.empty()) return true;
  problem_ = fmt::format("record {} ({}) names {}", record.seq, EntryName(record.entry), problem);
  return false;
}

}  // namespace muster
