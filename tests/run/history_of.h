// The history of a run whose journal a test has made.
#pragma once

#include <utility>

#include "run/journal/run_history.h"
#include "support/journal_contents.h"

namespace muster {

inline RunHistory HistoryOf(const Plan& plan, JournalContents contents) {
  HistoryFold fold(plan);
  for (JournalRecord& record : contents.records) fold.Take(std::move(record));
  return std::move(fold).End(std::move(contents.stopped));
}

}  // namespace muster
