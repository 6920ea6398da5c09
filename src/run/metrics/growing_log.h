// Reads the lines of a growing log, whose beginning may have been dropped.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "run/metrics/growing_lines.h"
#include "wire/files/log_bytes.h"

namespace muster {

class GrowingLog {
 public:
  explicit GrowingLog(std::string path) : path_(std::move(path)) {}

  // As in AppendedFile.
  bool Read(const GrowingLines::Take& take);
  void Flush(const GrowingLines::Take& take) { lines_.Flush(take); }
  void LeaveOut();

 private:
  std::string path_;
  std::optional<LogBytes> log_;
  std::uint64_t offset_ = 0;
  GrowingLines lines_{true};
};

}  // namespace muster
