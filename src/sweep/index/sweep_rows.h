// What a sweep's journal tells, as rows: the tables of its index, and how each entry changes them. Part of the index
// and of the views.
//
//   attempts   one row for each; of the last attempt of a trial `last` is 1, and `over` if nothing follows
//   reasons    why trials cannot be, as they were judged
//   rungs      reports at rungs and what was decided; medians: what the median rule stopped
//   heads      who took the sweep up; departures: how they left; quarantined: hosts
#pragma once

#include <cstdint>
#include <string_view>

#include "sweep/index/database.h"
#include "sweep/index/statement.h"
#include "sweep/record/sweep_journal.h"

namespace muster {

class SweepRows {
 public:
  // Makes the tables in `database` if they are not there; false if it cannot.
  static bool MakeTables(Database& database);

  // Into the tables of `database`, which has to outlive this. With `above`, the database that is attached as "held" has
  // rows already and is not written: what changes of them is copied first.
  SweepRows(Database& database, bool above);

  // False if a row cannot be written.
  bool Take(const SweepRecord& record);

 private:
  bool Began(const AttemptBegan& entry, std::string_view wall);
  bool Ended(const AttemptEnded& entry, std::string_view wall);
  bool Copy(TrialNumber first, TrialNumber last);

  Statement copy_, follow_, begin_, end_, reopen_, reason_, rung_, median_, head_, departure_, quarantine_;
  bool above_;
};

}  // namespace muster
