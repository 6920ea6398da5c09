// Keeps the samples of resource usage that agents send: in the file usage.jsonl, which is rewritten with fewer points
// before it has grown to more than about twice their size.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/system/unique_fd.h"
#include "run/directory/usage_history.h"
#include "wire/protocol/protocol.h"

namespace muster {

struct LiveRun;

// The first interval of samples in milliseconds: 5 seconds, or what MUSTER_USAGE_SECONDS says in this environment
// ("NAME=value"). 0: no samples.
std::uint64_t UsageIntervalMs(const std::vector<std::string>& environment);

class UsageRecord {
 public:
  explicit UsageRecord(LiveRun& run) : run_(run) {}

  // Writes the sample. If the file cannot be written, that is reported once, and nothing further is recorded.
  void Keep(const UsageSampled& sample);

 private:
  // Returns an error number, or 0.
  int Write(const std::string& line);
  bool Rewrite();

  LiveRun& run_;
  std::optional<UsageHistory> history_;
  UniqueFd file_;
  std::size_t rewritten_ = 0;  // bytes that the last rewriting wrote
  std::size_t appended_ = 0;   // bytes since then
  bool failed_ = false;
};

}  // namespace muster
