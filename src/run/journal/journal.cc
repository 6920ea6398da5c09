#include "run/journal/journal.h"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <utility>

#include <errno.h>
#include <fcntl.h>
#include <fmt/format.h>

#include "base/values/shell_quote.h"
#include "base/values/utf8.h"
#include "muster/value.h"
#include "run/journal/head_fact_fields.h"
#include "run/lines/journal_line.h"
#include "run/lines/record_lines.h"
#include "settings/values/value_json.h"
#include "wire/protocol/event_fields.h"

namespace muster {
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
    "devices_awaited", "engine_answered"};

constexpr std::size_t kMaxJournalBytes = 1U << 30;
// For all values of a line together: the binding of a million processes has three million. A value takes far more
// memory than its text.
constexpr std::ptrdiff_t kMostValues = 4'000'000;
// Larger numbers are read and written as this one, so that a few times and offsets can be added without overflow. In
// nanoseconds it is 36 years of uptime.
constexpr std::uint64_t kLargestNumber = std::uint64_t{1} << 60;

using Parsed = tl::expected<JournalRecord, std::string>;

Parsed No(std::string why) { return tl::unexpected<std::string>(std::move(why)); }

// `text`: a line; its checksum may be omitted.
Parsed RecordOf(std::string_view text, LineReader::Order order) {
  LineReader reader(text, order, kLargestNumber);
  JournalRecord record;
  std::string name;
  reader.Begin();
  reader("seq", record.seq), reader("wall", record.wall), reader("at", record.at), reader("event", name);
  if (!GetEntry(reader, kEntryNames, name, record.entry)) {
    return No(fmt::format("the event {} is not known", Quoted(name)));
  }
  const bool whole = order == LineReader::Order::kAny ? reader.ok() : reader.AtEnd();
  if (!whole) return No(fmt::format("the event {} lacks a field", Quoted(name)));
  return record;
}

// The record of one line (given without its newline), or why the line is invalid.
Parsed ReadLine(std::string_view line) {
  const auto body = OpenLine(line);
  if (!body) return No(body.error());
  if (std::count(line.begin(), line.end(), ',') > kMostValues) return No("a line has too many values");
  if (IsUtf8(*body)) {
    if (Parsed record = RecordOf(*body, LineReader::Order::kAsWritten)) return record;
  }
  // Lines that another program wrote: members in another order, or additional ones.
  const tl::expected<Value, std::string> json = ValueFromJsonText(line);
  if (!json || json->AsMap() == nullptr) return No("a line is not a JSON object");
  return RecordOf(line, LineReader::Order::kAny);
}

// `take` also gets the position after the record.
template <class Take>
std::string ReadRecordsOf(const std::string& path, const Take& take) {
  const UniqueFd file = OpenJournal(AT_FDCWD, path);
  if (!file) return SystemError("file", fmt::format("cannot read {}", Quoted(path)), errno).message;
  std::string stopped;
  ReadRecords(file.get(), {}, ReadLine, take, stopped);
  return stopped;
}

}  // namespace

std::string_view EntryName(const JournalEntry& entry) { return kEntryNames[entry.index()]; }

std::string JournalLine(const JournalRecord& record) {
  std::string line = "{";
  LineWriter writer(line, kLargestNumber);
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

JournalContents ParseJournal(std::string_view bytes) {
  JournalContents contents;
  while (!bytes.empty()) {
    const std::size_t end = bytes.find('\n');
    if (end == std::string_view::npos) {
      contents.stopped = "the last line is cut";
      break;
    }
    Parsed record = ReadLine(bytes.substr(0, end));
    if (!record || record->seq != contents.records.size() + 1) {
      contents.stopped = record ? "a record is missing" : record.error();
      break;
    }
    contents.records.push_back(std::move(*record));
    contents.valid_bytes += end + 1;
    bytes.remove_prefix(end + 1);
  }
  return contents;
}

std::string ReadJournal(const std::string& path, const std::function<bool(JournalRecord record)>& take) {
  return ReadRecordsOf(path, [&](JournalRecord&& record, JournalPosition) { return take(std::move(record)); });
}

JournalContents ReadJournal(const std::string& path) {
  JournalContents contents;
  bool too_long = false;
  contents.stopped = ReadRecordsOf(path, [&](JournalRecord&& record, JournalPosition end) {
    too_long = end.bytes > kMaxJournalBytes;
    if (too_long) return false;
    contents.valid_bytes = end.bytes;
    contents.records.push_back(std::move(record));
    return true;
  });
  if (too_long) contents.stopped = fmt::format("it is longer than {} bytes", kMaxJournalBytes);
  return contents;
}

}  // namespace muster
