// The metrics file: one JSON object per line, appended as a whole, so that readers that follow the file see whole
// lines. Independent of training.
#pragma once

#include <cstdint>
#include <string>

#include "ps_digits/failure.h"

namespace ps_digits {

struct EpochMetrics {
  std::uint32_t epoch = 0;
  double loss = 0;
  double accuracy = 0;
};

// {"epoch":3,"loss":0.1234,"accuracy":0.95}
std::string MetricsLine(const EpochMetrics& metrics);

Result<void> AppendMetrics(const std::string& file, const EpochMetrics& metrics);

}  // namespace ps_digits
