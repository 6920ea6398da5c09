// The index of a sweep: index.sqlite, a cache of its journal that can be deleted at any time. It holds the entries
// as rows (sweep/index/sweep_rows.h) and, from time to time, the progress, so that the whole journal need not be
// read.
//
// It records which part of the journal it covers, and bytes that identify the journal. An index that does not match,
// was made by another version, or was in use when the machine was switched off is discarded and rebuilt. So is one that
// is damaged or was not created by muster, with a warning.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "muster/result.h"
#include "sweep/index/sweep_rows.h"
#include "sweep/record/sweep_journal.h"
#include "sweep/record/sweep_progress.h"

namespace muster {

// The progress of a sweep, from the intact part of its journal.
struct LoadedSweep {
  SweepProgress account;
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

  // Stores the added records; `account` and `position` are those after them. Without `leaving` it does not wait: if a
  // reader has locked the index, the next Commit tries again. `leaving`: the last call of the head; the index then
  // stays valid if the machine is switched off.
  void Commit(const SweepProgress& account, JournalPosition position, bool leaving = false);

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
