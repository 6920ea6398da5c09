// Encodes records of TensorBoard's event files: messages of protocol buffers (tensorflow/core/util/event.proto and
// tensorboard/plugins/hparams/plugin_data.proto), each between its length and masked CRC-32C checksums. Values in,
// bytes out.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "muster/value.h"

namespace muster {

// Wall times are seconds since 1970.

// The first record of a file, which names its version.
std::string FileVersionRecord(double wall_time);

std::string ScalarRecord(double wall_time, std::int64_t step, std::string_view tag, float value);

// HParams, the table of parameters: a session with the parameters of a run. Members of maps become `outer.inner`, lists
// their JSON.
std::string SessionBeganRecord(double wall_time, const Value::Map& parameters);

enum class SessionStatus : std::uint8_t { kUnknown = 0, kSuccess = 1, kFailure = 2, kRunning = 3 };
std::string SessionEndedRecord(double wall_time, SessionStatus status);

}  // namespace muster
