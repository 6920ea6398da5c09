// The index of a sweep: index.sqlite, a cache of its journal that can be thrown away at any time. It holds rows of
// everything (sweep/index/sweep_rows.h) and now and then the account, so that neither has to be made of the whole
// journal.
//
// It says how far of the journal it holds, and by what that journal is known again: one that does not match, that
// another version made, or that a machine was switched off over, is thrown away and made anew. So is one that is
// damaged, or is not what muster makes, and that is told.
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

// Of a journal, as far as it is whole.
struct LoadedSweep {
  SweepProgress account;
  JournalPosition position;
  std::string stopped;  // why reading ended before the end of the file; empty if it did not
  std::string damage;   // what is wrong with the index, so that it was not asked; empty if nothing is, or there is none
};

// The head's: it alone writes.
class SweepIndex {
 public:
  // Of the sweep in that folder, which has a journal. An index that cannot be made is one that holds nothing and does
  // nothing; see problem().
  static SweepIndex Open(const std::string& sweep_dir);
  SweepIndex(SweepIndex&&) noexcept;
  SweepIndex& operator=(SweepIndex&&) noexcept;
  ~SweepIndex();

  // The account by what is kept and by the rest of the journal, which the rows take as well. Once, first of all; may
  // take seconds if much of the journal is not indexed.
  LoadedSweep CatchUp();

  // The next record of the journal; after CatchUp. Cheap; nothing is on the disk before Commit.
  void Take(const SweepRecord& record);

  // What has been taken is kept; `account` and `position` are those after it. Without `leaving` nothing is waited for:
  // if a reader is at it, it is tried again with the next Commit. `leaving`: the head does nothing after it; what is
  // kept then holds when the machine is switched off, too.
  void Commit(const SweepProgress& account, JournalPosition position, bool leaving = false);

  // Why there is no index; empty if there is one. The sweep itself lacks nothing.
  const std::string& problem() const;
  // What was wrong with the one that was there and is made anew; empty if nothing was.
  const std::string& damage() const;

 private:
  struct State;
  explicit SweepIndex(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

// For a reader who wants no rows (sweep_view.h has them): writes nothing, and asks the index only if it fits.
LoadedSweep LoadSweepProgress(const std::string& sweep_dir);

}  // namespace muster
