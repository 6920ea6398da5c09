// Cuts off the beginning of a log while its process continues to write to it, with fallocate(2) and
// FALLOC_FL_COLLAPSE_RANGE.
//
// Handles one log and the head of its index (wire/files/time_index.h). Waits for the disk: before the kernel moves the
// data after the cut, it writes it out. So a separate process does it (agent/logs/log_trims.h).
#pragma once

#include <cstdint>

#include "base/system/open_below.h"

namespace muster {

// Logs are cut in multiples of this; file systems with larger blocks count as unable to cut.
inline constexpr std::uint64_t kCollapseUnit = 64U << 10;

// The number of bytes to cut off a log of this length, so that a quarter of the limit becomes free: a multiple of
// kCollapseUnit; 0 if the log is within its limit.
std::uint64_t BytesToDrop(std::uint64_t size, std::uint64_t limit);

// Descriptor of the log's base directory in the cutting process.
inline constexpr int kCollapseDirectory = 3;

// Whether files of this folder can be cut, tested with a temporary file.
bool CanCollapse(const FileBelow& folder);

// Cuts the log to the limit in its index, and completes what an earlier call could not. True if there was something to
// do and it succeeded. Without an index nothing is dropped, since readers could not detect it.
bool CollapseLog(const FileBelow& log);

}  // namespace muster
