#include "sweep/record/sweep_journal.h"

#include <utility>

#include <errno.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/system/clock.h"
#include "base/system/private_files.h"
#include "base/values/quoting.h"
#include "base/values/utf8_text.h"
#include "base/values/value_json.h"
#include "wire/archive/json_schema.h"
#include "wire/files/run_layout.h"

namespace muster {

// The lines of a sweep's journal: SweepJournalLine and ParseSweepJournalLine of sweep_journal.h.

namespace {

// In the order of SweepEntry's alternatives.
constexpr EntryNames<SweepEntry> kEntryNames = {
    "sweep_began",    "points_judged",    "attempt_began",   "rung_reached",   "median_stopped",
    "attempt_ended",  "host_quarantined", "trials_reopened", "sweep_steered",  "sweep_ended",
    "trial_promoted", "sweep_edited",     "value_skipped",   "value_restored", "no_gain_expected"};

}  // namespace

std::string_view SweepEntryName(const SweepEntry& entry) { return kEntryNames[entry.index()]; }

std::string SweepJournalSchema() {
  return SchemaOfEntries<SweepEntry>(kEntryNames, [](SchemaWriter<>& writer) {
    const SweepRecord record;
    writer("seq", record.seq), writer("wall", record.wall);
  });
}

std::string SweepJournalLine(const SweepRecord& record) {
  std::string line = "{";
  JsonWriter writer(line);
  writer("seq", record.seq), writer("wall", record.wall);
  PutEntry(writer, kEntryNames, record.entry);
  SealLine(line);
  return line;
}

namespace {

using Parsed = tl::expected<SweepRecord, std::string>;

// The record whose object the reader has begun.
template <class Reader>
Parsed RecordOf(Reader& reader) {
  Parsed record;
  std::string name;
  reader("seq", record->seq), reader("wall", record->wall), reader("event", name);
  if (!reader.ok() || !GetEntry(reader, kEntryNames, name, record->entry) || !reader.AtEnd()) {
    return tl::unexpected<std::string>("an entry is not known, or lacks a field");
  }
  return record;
}

}  // namespace

Parsed ParseSweepJournalLine(std::string_view line) {
  const auto body = OpenLine(line);
  if (!body) return tl::unexpected(body.error());
  if (IsUtf8(*body)) {
    LineReader reader(*body);
    reader.Begin();
    if (Parsed record = RecordOf(reader)) return record;
  }
  // Members that a later version added, or in another order.
  const tl::expected<Value, std::string> json = ValueFromJsonText(line);
  if (!json || json->AsMap() == nullptr) return tl::unexpected<std::string>("a line is not a JSON object");
  JsonReader reader(JsonReading::kOpen);
  reader.Begin(*json);
  return RecordOf(reader);
}

namespace {

constexpr const char* kName = kJournalEntry.name;
// For the last entries of all running trials, and of the sweep, when the disk is full.
constexpr std::uint64_t kReservedBytes = 256U << 10;

}  // namespace

JournalPosition ReadSweepJournal(int folder, JournalPosition from, const std::function<void(SweepRecord)>& take,
                                 std::string& stopped) {
  stopped.clear();
  const UniqueFd file = OpenJournal(folder, kName);
  struct stat status {};
  if (!file || ::fstat(file.get(), &status) != 0) {
    stopped = "the journal cannot be opened";
    return from;
  }
  if (static_cast<std::uint64_t>(status.st_size) < from.bytes) {
    stopped = "the journal is shorter than what was read of it";
    return from;
  }
  const auto take_all = [&](SweepRecord&& record, JournalPosition) {
    take(std::move(record));
    return true;
  };
  return ReadRecords(file.get(), from, ParseSweepJournalLine, take_all, stopped);
}

namespace {

// The event of the record after the last readable one, if its line is complete: cutting it off would lose what a later
// version wrote. Empty if nothing follows, or a line that is torn or damaged.
std::string EntryOfLaterVersion(int folder, JournalPosition end) {
  const UniqueFd file = OpenJournal(folder, kName);
  if (!file) return {};
  JournalLines lines(file.get(), end.bytes);
  const std::optional<std::string_view> line = lines.Next();
  if (!line || !OpenLine(*line)) return {};
  const auto json = ValueFromJsonText(*line);
  if (!json || NumberField(*json, "seq") != static_cast<std::int64_t>(end.seq) + 1) return {};
  return TextField(*json, "event");
}

}  // namespace

SweepJournalWriter::SweepJournalWriter(UniqueFd file, JournalPosition end)
    : file_(std::move(file), end.bytes, kReservedBytes), seq_(end.seq) {}

Result<SweepJournalWriter> SweepJournalWriter::Begin(UniqueFd file, JournalPosition end) {
  SweepJournalWriter writer(std::move(file), end);
  const int error = writer.file_.ReserveSpace();
  if (error == 0) return writer;
  return Fail(SystemError(
      "sweep_journal", fmt::format("the disk has no room for {} bytes of the sweep's journal", kReservedBytes), error));
}

Result<SweepJournalWriter> SweepJournalWriter::Create(int folder) {
  Result<UniqueFd> file = CreateFile(folder, kName);
  if (!file) return Fail(std::move(file.error()));
  return Begin(std::move(*file), {});
}

Result<SweepJournalWriter> SweepJournalWriter::Continue(int folder, JournalPosition end) {
  UniqueFd file(::openat(folder, kName, O_WRONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
  struct stat status {};
  if (!file || ::fstat(file.get(), &status) != 0) {
    return Fail(SystemError("sweep_journal", "the sweep's journal cannot be opened for writing", errno));
  }
  if (!S_ISREG(status.st_mode) || static_cast<std::uint64_t>(status.st_size) < end.bytes) {
    return Fail(MachineError("sweep_journal", "the sweep's journal is shorter than what was read of it",
                             "another process writes to the sweep's journal"));
  }
  if (const std::string event = EntryOfLaterVersion(folder, end); !event.empty()) {
    return Fail(
        MachineError("sweep_journal",
                     fmt::format("record {} of the sweep's journal, {}, is not known to this muster " MUSTER_VERSION
                                 ": a later version wrote it",
                                 end.seq + 1, Quoted(event)),
                     "continue the sweep with that version, which its last sweep_began names; nothing was changed"));
  }
  if (::ftruncate(file.get(), static_cast<off_t>(end.bytes)) != 0) {
    return Fail(
        SystemError("sweep_journal", "what is broken at the end of the sweep's journal cannot be cut off", errno));
  }
  return Begin(std::move(file), end);
}

int SweepJournalWriter::Append(SweepEntry entry, std::uint64_t wall_ns) {
  std::string line = SweepJournalLine({seq_ + 1, UtcText(wall_ns), std::move(entry)});
  if (const int error = file_.Write(line); error != 0) return error;
  ++seq_;
  synced_ = false;
  return 0;
}

int SweepJournalWriter::Sync() {
  const int error = file_.Sync();
  if (error == 0) synced_ = true;
  return error;
}

}  // namespace muster
