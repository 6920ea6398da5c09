// Event files of TensorBoard: the encoding of their records (messages of protocol buffers between their length and
// masked CRC-32C checksums), and the events of one run: its parameters and outcome, and what its processes reported.
// Values in, bytes out.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "metrics/metric_history.h"
#include "muster/value.h"

namespace muster {

// Encodes records of TensorBoard's event files: messages of protocol buffers (tensorflow/core/util/event.proto and
// tensorboard/plugins/hparams/plugin_data.proto), each between its length and masked CRC-32C checksums. Values in,
// bytes out.

// Wall times are seconds since 1970.

// The first record of a file, which names its version.
std::string FileVersionRecord(double wall_time);

std::string ScalarRecord(double wall_time, std::int64_t step, std::string_view tag, float value);

// HParams, the table of parameters: a session with the parameters of a run. Members of maps become `outer.inner`, lists
// their JSON.
std::string SessionBeganRecord(double wall_time, const Value::Map& parameters);

enum class SessionStatus : std::uint8_t { kUnknown = 0, kSuccess = 1, kFailure = 2, kRunning = 3 };
std::string SessionEndedRecord(double wall_time, SessionStatus status);

// The events of one run for TensorBoard: its parameters and outcome, and what its processes reported.

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

// Passes the records of a file to `put`, which returns false to stop. For each role the process that reports
// name is exported. Its metrics become tags; if several roles report, tags are `role/metric`. The step is that of
// StepMetric, or the number of the report if there is none, or if it is no whole number. What was reported before a
// restart, or in an earlier directory, is left out from the step on at which the process continued. Reports carry no
// time, so wall times are spread evenly over the run. Each file is read twice, in parts: memory does not grow with its
// length.
WrittenEvents WriteRunEvents(const RunForTensorboard& run, const std::function<bool(std::string_view)>& put);

}  // namespace muster
