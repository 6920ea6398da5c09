// The lines of a sweep's journal: SweepJournalLine and ParseSweepJournalLine of sweep_journal.h.
#include <string>
#include <string_view>

#include "base/values/utf8_text.h"
#include "run/lines/journal_file.h"
#include "run/lines/json_lines.h"
#include "sweep/record/sweep_event_fields.h"
#include "sweep/record/sweep_journal.h"

namespace muster {
namespace {

// In the order of SweepEntry's alternatives.
constexpr EntryNames<SweepEntry> kEntryNames = {
    "sweep_began",   "points_judged",    "attempt_began",   "rung_reached",  "median_stopped",
    "attempt_ended", "host_quarantined", "trials_reopened", "sweep_steered", "sweep_ended"};

}  // namespace

std::string_view SweepEntryName(const SweepEntry& entry) { return kEntryNames[entry.index()]; }

std::string SweepJournalLine(const SweepRecord& record) {
  std::string line = "{";
  LineWriter writer(line);
  writer("seq", record.seq), writer("wall", record.wall);
  PutEntry(writer, kEntryNames, record.entry);
  SealLine(line);
  return line;
}

tl::expected<SweepRecord, std::string> ParseSweepJournalLine(std::string_view line) {
  const auto body = OpenLine(line);
  if (!body) return tl::unexpected(body.error());
  const bool readable = IsUtf8(*body);
  tl::expected<SweepRecord, std::string> record;
  std::string name;
  LineReader reader(*body);
  reader.Begin();
  reader("seq", record->seq), reader("wall", record->wall), reader("event", name);
  if (!readable || !reader.ok() || !GetEntry(reader, kEntryNames, name, record->entry) || !reader.AtEnd()) {
    return tl::unexpected<std::string>("an entry is not known, or lacks a field");
  }
  return record;
}

}  // namespace muster
