// The lines of a sweep's journal: SweepJournalLine and ParseSweepJournalLine of sweep_journal.h.
#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

#include "base/values/utf8.h"
#include "run/journal/journal_line.h"
#include "sweep/record/line_reader.h"
#include "sweep/record/line_writer.h"
#include "sweep/record/sweep_journal.h"
#include "sweep/record/sweep_journal_fields.h"

namespace muster {
namespace {

// In the order of SweepEntry's alternatives.
constexpr std::array<std::string_view, std::variant_size_v<SweepEntry>> kEntryNames = {
    "sweep_began",   "points_judged",    "attempt_began",   "rung_reached", "median_stopped",
    "attempt_ended", "host_quarantined", "trials_reopened", "sweep_ended"};

template <std::size_t I = 0>
bool ReadEntry(std::string_view name, LineReader& fields, SweepEntry& entry) {
  if constexpr (I == kEntryNames.size()) {
    return false;
  } else {
    if (name != kEntryNames[I]) return ReadEntry<I + 1>(name, fields, entry);
    JournalFields(fields, entry.emplace<I>());
    return true;
  }
}

}  // namespace

std::string_view SweepEntryName(const SweepEntry& entry) { return kEntryNames[entry.index()]; }

std::string SweepJournalLine(const SweepRecord& record) {
  std::string line = "{\"seq\":";
  LineWriter writer(line);
  writer.Put(record.seq);
  writer("wall", record.wall);
  line += ",\"event\":\"";
  line += SweepEntryName(record.entry);
  line += '"';
  std::visit(
      [&](const auto& entry) { JournalFields(writer, const_cast<std::remove_cvref_t<decltype(entry)>&>(entry)); },
      record.entry);
  SealLine(line);
  return line;
}

std::optional<SweepRecord> ParseSweepJournalLine(std::string_view line) {
  const auto body = OpenLine(line);
  if (!body || !IsUtf8(*body)) return std::nullopt;
  SweepRecord record;
  std::string name;
  LineReader reader(*body);
  if (!reader.Take("{\"seq\":")) return std::nullopt;
  reader.Get(record.seq);
  reader("wall", record.wall);
  reader("event", name);
  if (!reader.ok() || !ReadEntry(name, reader, record.entry) || !reader.AtEnd()) return std::nullopt;
  return record;
}

}  // namespace muster
