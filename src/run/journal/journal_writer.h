// Writes the journal of a run: append-only, each record before what follows from it.
#pragma once

#include <cstdint>
#include <string>
#include <utility>

#include "muster/event.h"
#include "muster/result.h"
#include "run/journal/journal.h"
#include "run/lines/journal_file.h"

namespace muster {

class JournalWriter {
 public:
  // Creates journal.jsonl in the folder, exclusively. Beyond what is written `room` bytes of the disk are kept for it
  // (run/directory/reserved_space.h); kind "journal" if the disk has not so many.
  static Result<JournalWriter> Create(int folder, std::uint64_t room = 0);

  // The next record, for Write().
  void Append(JournalEntry entry, std::uint64_t wall_ns, MonotonicNs at);
  // Writes what was appended. What the disk does not take is kept and goes first the next time.
  void Write();
  // Everything on the disk; for the last record.
  void Sync();
  // Gives the room that is left to others, as the end of the writer does; after the last record.
  void Release() { file_.Release(); }

  // errno of the last write or sync, 0 if all is written.
  int error() const { return error_; }
  std::uint64_t records() const { return seq_; }

 private:
  explicit JournalWriter(JournalFile file) : file_(std::move(file)) {}
  JournalFile file_;
  std::uint64_t seq_ = 0;
  std::string unwritten_;
  int error_ = 0;
};

}  // namespace muster
