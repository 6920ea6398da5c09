// The entries of a sweep's journal as rows: the tables of its index, and how each entry changes them. Part of the index
// and of the views.
//
//   attempts   one row for each; `last` is 1 for the last attempt of a trial, `over` if no other will follow
//   reasons    why trials are impossible, in the order in which they were judged
//   rungs      reports at rungs and the decisions; medians: trials stopped by the median rule
//   heads      starts of heads; departures: how heads stopped; quarantined: hosts
#pragma once

#include <cstdint>
#include <string_view>

#include "sweep/index/database.h"
#include "sweep/index/statement.h"
#include "sweep/record/sweep_journal.h"

namespace muster {

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

  Statement copy_, follow_, begin_, end_, reopen_, reason_, rung_, median_, head_, departure_, quarantine_;
  bool above_;
};

}  // namespace muster
