// The journal of a sweep: JSON lines, the truth about it; docs/sweeps.md holds the format. One head writes,
// append-only.
//
// A line is {"seq":N,"wall":"…","event":"…", …,"crc":"xxxxxxxx"} as in the journal of a run (run/journal/journal.h): a
// cut, a torn write or a flipped bit ends the journal where it stands, and nothing after it is believed.
//
// Policy on the disk: every entry is one write(2) at once, before what it explains is done, so nothing is lost when
// muster dies. fdatasync(2) before the head leaves, and in between at most once a second: a power cut costs at most
// what happened in the last second, and that is done again. Room for more entries is kept on the disk, so that the
// sweep that a full disk stops can say so.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include <tl/expected.hpp>

#include "base/system/unique_fd.h"
#include "muster/result.h"
#include "run/lines/journal_file.h"
#include "run/lines/journal_lines.h"
#include "sweep/record/sweep_events.h"

namespace muster {

struct SweepRecord {
  std::uint64_t seq = 0;  // from 1, without gaps
  std::string wall;       // UTC, RFC 3339 with microseconds
  SweepEntry entry;

  bool operator==(const SweepRecord&) const = default;
};

std::string_view SweepEntryName(const SweepEntry& entry);
std::string SweepJournalLine(const SweepRecord& record);  // newline included
// The record of a line without its newline, or why it is none.
tl::expected<SweepRecord, std::string> ParseSweepJournalLine(std::string_view line);

// Calls `take` for each record after `from`, as far as they are whole, in constant memory. Where that ended, and in
// `stopped` why, if it was not the end of the file.
JournalPosition ReadSweepJournal(int folder, JournalPosition from, const std::function<void(SweepRecord)>& take,
                                 std::string& stopped);

class SweepJournalWriter {
 public:
  // Creates journal.jsonl in the folder, exclusively.
  static Result<SweepJournalWriter> Create(int folder);
  // Goes on where reading ended; what stands behind that is cut off.
  static Result<SweepJournalWriter> Continue(int folder, JournalPosition end);

  // Appends and writes, whole or not at all: what the disk takes half of is cut off again. 0, or the errno.
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
