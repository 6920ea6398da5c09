// Writes the journal of a run: append-only, each record before its consequences.
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
  // Creates journal.jsonl in the folder, exclusively. Reserves `room` bytes of the disk beyond its end
  // (run/directory/reserved_space.h); kind "journal" if the disk has too little space.
  static Result<JournalWriter> Create(int folder, std::uint64_t room = 0);

  // Adds the next record, which Write() writes.
  void Append(JournalEntry entry, std::uint64_t wall_ns, MonotonicNs at);
  // Writes the added records. If the disk does not accept all of it, the rest is kept and written first the next time.
  void Write();
  // Syncs everything to disk; for the last record.
  void Sync();
  // Frees the reserved disk space, as the destructor does; call it after the last record.
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
