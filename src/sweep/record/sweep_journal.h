// The journal of a sweep: JSON lines that define its state; the format is in docs/sweeps.md. Written by one head,
// append-only.
//
// A line is {"seq":N,"wall":"…","event":"…", …,"crc":"xxxxxxxx"} as in the journal of a run (run/journal/journal.h):
// the journal ends at the first truncated, torn or corrupt line, and everything after it is ignored.
//
// Durability: every entry is written by one write(2), before the action that it announces, so nothing is lost if muster
// dies. fdatasync(2) is called before the head exits, and at most once a second before that: a power failure loses at
// most the last second, which is repeated. Disk space for further entries is reserved, so that a sweep that stops
// because the disk is full can record that.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include <tl/expected.hpp>

#include "base/system/unique_fd.h"
#include "muster/result.h"
#include "run/lines/journal_file.h"
#include "sweep/record/sweep_events.h"

namespace muster {

struct SweepRecord {
  std::uint64_t seq = 0;  // from 1, without gaps
  std::string wall;       // UTC, RFC 3339 with microseconds
  SweepEntry entry;

  bool operator==(const SweepRecord&) const = default;
};

std::string_view SweepEntryName(const SweepEntry& entry);
std::string SweepJournalLine(const SweepRecord& record);  // including the newline
// The record of a line without its newline, or why it is invalid.
tl::expected<SweepRecord, std::string> ParseSweepJournalLine(std::string_view line);

// Calls `take` for each intact record after `from`, in constant memory. Returns the end of the last one; `stopped` gets
// the reason if that is not the end of the file.
JournalPosition ReadSweepJournal(int folder, JournalPosition from, const std::function<void(SweepRecord)>& take,
                                 std::string& stopped);

class SweepJournalWriter {
 public:
  // Creates journal.jsonl in the folder, exclusively.
  static Result<SweepJournalWriter> Create(int folder);
  // Continues where reading ended; the rest of the file is cut off.
  static Result<SweepJournalWriter> Continue(int folder, JournalPosition end);

  // Appends and writes, completely or not at all: a partial write is cut off again. 0, or the errno.
  int Append(SweepEntry entry, std::uint64_t wall_ns);
  int Sync();
  bool synced() const { return synced_; }
  JournalPosition position() const { return {file_.bytes(), seq_}; }

 private:
  static Result<SweepJournalWriter> Begin(UniqueFd file, JournalPosition end);
  SweepJournalWriter(UniqueFd file, JournalPosition end);
  JournalFile file_;
  std::uint64_t seq_;
  bool synced_ = true;
};

}  // namespace muster
