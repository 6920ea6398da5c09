// Cutting off the head of a log that its process goes on writing to, by fallocate(2) with FALLOC_FL_COLLAPSE_RANGE.
//
// Knows one log and the head of its index (wire/files/time_index.h). Waits for the disk: the kernel writes out what is
// behind the cut before it moves it. So it is done in a process of its own (agent/logs/log_trims.h).
#pragma once

#include <cstdint>

#include "base/system/open_below.h"

namespace muster {

// A log is cut in whole units; a file system whose blocks are larger is taken for one that cannot do it.
inline constexpr std::uint64_t kCollapseUnit = 64U << 10;

// How much is cut off a log of this length, so that a quarter of the limit is free again: whole units; 0 if the log is
// within its limit.
std::uint64_t BytesToDrop(std::uint64_t size, std::uint64_t limit);

// The descriptor at which the process that cuts finds the directory that its log is below.
inline constexpr int kCollapseDirectory = 3;

// Whether files of this folder can be cut, found out with one that is made for it and removed.
bool CanCollapse(const FileBelow& folder);

// Brings the log to its limit, which its index tells, and ends what an earlier call could not end. Whether there was
// anything to do, and it was done. Without an index nothing is dropped: nobody would know.
bool CollapseLog(const FileBelow& log);

}  // namespace muster
