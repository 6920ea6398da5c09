// The events of one run for TensorBoard: its parameters and outcome, and what its processes reported.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "muster/value.h"
#include "run/directory/metric_history.h"
#include "tensorboard/event_record.h"

namespace muster {

struct RunForTensorboard {
  std::vector<std::string> run_dirs;  // of the attempts that belong together, in order; each continues the one before
  Value::Map parameters;
  double began = 0;  // seconds since 1970
  double ended = 0;  // of an active run: now
  SessionStatus status = SessionStatus::kUnknown;
  std::optional<ProcessHistory> log = {};  // what patterns found in its log, or in those of `run_dirs`
  std::map<std::string, Value> results;    // the scalars if there are no others
};

struct WrittenEvents {
  std::uint64_t scalars = 0;
};

// Passes the records of a file to `put`, which returns false to stop. Of each role the process counts that reports
// name; its metrics are tags, of several roles `role/metric`. The step is that of StepMetric, or the number of the
// report if there is none, or if it is no whole number. What was reported before a restart, or in an earlier directory,
// is left out from the step on at which the process continued. Reports carry no time, so wall times are spread evenly
// over the run. Each file is read twice, in parts: memory does not grow with its length.
WrittenEvents WriteRunEvents(const RunForTensorboard& run, const std::function<bool(std::string_view)>& put);

}  // namespace muster
