// The index of a sweep: index.sqlite, a cache of its journal that can be deleted at any time. Its file is validated
// before it is used; entries become rows, and the progress is stored as an archive.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "muster/result.h"
#include "sweep/index/database.h"
#include "sweep/record/sweep_journal.h"
#include "sweep/record/sweep_progress.h"

namespace muster {

// The entries of a sweep's journal as rows: the tables of its index, and how each entry changes them. Part of the index
// and of the views.
//
//   attempts   one row for each; `last` is 1 for the last attempt of a trial, `over` if no other will follow
//   reasons    why trials are impossible, in the order in which they were judged
//   rungs      reports at rungs and the decisions; promotions: of paused trials; medians: trials stopped by the median
//              rule
//   heads      starts of heads; departures: how heads stopped; quarantined: hosts
class SweepRows {
 public:
  // Creates the tables in `database` if they are missing; false if that fails.
  static bool MakeTables(Database& database);

  // Writes to the tables of `database`, which must outlive this object. With `above`, the database attached as "held"
  // has older rows and is not written: rows are copied before they are changed.
  SweepRows(Database& database, bool above);

  // False if a row cannot be written.
  bool Take(const SweepRecord& record);

 private:
  bool Began(const AttemptBegan& entry, std::string_view wall);
  bool Ended(const AttemptEnded& entry, std::string_view wall);
  bool Copy(TrialNumber first, TrialNumber last);

  Statement copy_, follow_, begin_, end_, reopen_, reason_, rung_, promotion_, median_, head_, departure_, quarantine_;
  bool above_;
};

// Validates the file of a sweep's index before it is used: its type and size, its tables, its pages, and which part of
// which journal it claims to hold. Part of the index and of the views.
//
// A sweep directory may come from elsewhere. Rows are read only from an index that is exactly what muster creates.

// The position up to which the rows and the stored progress of an index go.
struct Indexed {
  JournalPosition rows;
  JournalPosition progress;
};

// For an index that was opened as `name` ("main", or an attached one). Fails with kind "database" if it is damaged or
// was not created by muster. Returns nothing if it does not match the sweep's journal, or another process has locked
// it. Before rows are read, CheckRows has to pass; it reads the whole index once.
Result<std::optional<Indexed>> WhatIsIndexed(Database& database, const std::string& name, const std::string& sweep_dir);
Result<void> CheckRows(Database& database, const std::string& name);
Result<SweepProgress> StoredSweepProgress(Database& database, const std::string& name);

// The size of the index in the sweep's folder; 0 if there is none yet. Fails with kind "database" if the file cannot be
// an index.
Result<std::uint64_t> IndexBytes(int folder);

// Whether the rollback journal of a killed writer names a super-journal: SQLite would delete that file, wherever it is.
bool NamesAnotherFile(int folder);

// Removes the index and the files that SQLite creates beside it.
void RemoveIndex(int folder);

// Creates the tables of an index, all or none; false if that fails.
bool MakeIndexTables(Database& database);

// Within a transaction: stores the position of the index, and the progress at that position. Returns false if it cannot
// be written.
bool WriteHeld(Database& database, int folder, JournalPosition position, const std::string& boot);
bool WriteSweepProgress(Database& database, JournalPosition position, const SweepProgress& progress);

// The index of a sweep: index.sqlite, a cache of its journal that can be deleted at any time. It holds the entries
// as rows and, from time to time, the progress, so that the whole journal need not be
// read.
//
// It records which part of the journal it covers, and bytes that identify the journal. An index that does not match,
// was made by another version, or was in use when the machine was switched off is discarded and rebuilt. So is one that
// is damaged or was not created by muster, with a warning.

// The progress of a sweep, from the intact part of its journal.
struct LoadedSweep {
  SweepProgress progress;
  JournalPosition position;
  std::string stopped;  // why reading stopped before the end of the file; empty if it did not
  std::string damage;   // why the index was not used; empty if it was, or there is none
};

// The head's side: only the head writes.
class SweepIndex {
 public:
  // For the sweep in that folder, which has a journal. If no index can be created, this object stores nothing; see
  // problem().
  static SweepIndex Open(const std::string& sweep_dir);
  SweepIndex(SweepIndex&&) noexcept;
  SweepIndex& operator=(SweepIndex&&) noexcept;
  ~SweepIndex();

  // The progress, from the stored one and the rest of the journal, which is also added to the rows. Must be called
  // once, first; may take seconds if much of the journal is not indexed.
  LoadedSweep CatchUp();

  // Adds the next record of the journal; after CatchUp. Cheap; nothing is written before Commit.
  void Take(const SweepRecord& record);

  // Stores the added records; `progress` and `position` are those after them. Without `leaving` it does not wait: if a
  // reader has locked the index, the next Commit tries again. `leaving`: the last call of the head; the index then
  // stays valid if the machine is switched off.
  void Commit(const SweepProgress& progress, JournalPosition position, bool leaving = false);

  // Why there is no index; empty if there is one. The sweep works without.
  const std::string& problem() const;
  // What was wrong with the index that is being rebuilt; empty if nothing was.
  const std::string& damage() const;

 private:
  struct State;
  explicit SweepIndex(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

// For readers that need no rows (others use sweep_view.h): writes nothing, and uses the index only if it matches.
LoadedSweep LoadSweepProgress(const std::string& sweep_dir);

}  // namespace muster
