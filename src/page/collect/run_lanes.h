// The processes of a run over time, from its journal: spans of their attempts, and what happened to them and to the
// run.
#pragma once

#include "muster/plan.h"
#include "muster/value.h"
#include "run/journal/journal.h"
#include "run/report/report.h"

namespace muster {

struct RunLanes {
  Value::List lanes;   // one map for each process of the plan
  Value::List phases;  // of the run
  Value::List marks;   // of the run as a whole
  double seconds = 0;  // from the beginning until the last record
};

RunLanes LanesOf(const Plan& plan, const CheckedJournal& journal, const Report& report);

}  // namespace muster
