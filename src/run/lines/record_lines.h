// Writes and reads records of a journal as lines: each has one entry, identified by the name of its alternative in a
// variant, and a number; numbers start at 1 without gaps.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

#include "run/lines/journal_lines.h"
#include "run/lines/line_reader.h"
#include "run/lines/line_writer.h"

namespace muster {

// In the order of the variant's alternatives.
template <class Entry>
using EntryNames = std::array<std::string_view, std::variant_size_v<Entry>>;

template <class Entry>
void PutEntry(LineWriter& writer, const EntryNames<Entry>& names, const Entry& entry) {
  writer("event", names[entry.index()]);
  std::visit([&](const auto& fields) { writer.Members(fields); }, entry);
}

// Returns false if no entry has the name; whether its fields are valid is the state of the reader.
template <std::size_t I = 0, class Entry>
bool GetEntry(LineReader& reader, const EntryNames<Entry>& names, std::string_view name, Entry& entry) {
  if constexpr (I == std::variant_size_v<Entry>) {
    return false;
  } else {
    if (name != names[I]) return GetEntry<I + 1>(reader, names, name, entry);
    Fields(reader, entry.template emplace<I>());
    return true;
  }
}

// Passes each record, with the position after it, to `take` until it returns false, as far as the lines of the open
// file are valid. `parse` turns a line into a record, or returns why it is none. Returns the position after the last
// accepted record; `stopped` is the reason if reading stopped before the end of the file, and empty otherwise or if
// `take` returned false.
template <class Parse, class Take>
JournalPosition ReadRecords(int file, JournalPosition from, const Parse& parse, const Take& take,
                            std::string& stopped) {
  stopped.clear();
  JournalLines lines(file, from.bytes);
  while (const std::optional<std::string_view> line = lines.Next()) {
    auto record = parse(*line);
    if (!record || record->seq != from.seq + 1) {
      stopped = record ? "a record is missing" : std::move(record.error());
      return from;
    }
    const JournalPosition next{from.bytes + line->size() + 1, record->seq};
    if (!take(std::move(*record), next)) return from;
    from = next;
  }
  stopped = lines.stopped();
  return from;
}

}  // namespace muster
