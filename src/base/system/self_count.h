// What this process is and holds of the machine now: for the record of a run, so that a leak shows and leftovers can be
// told from strangers. Knows /proc.
#pragma once

#include <cstdint>
#include <string>

#include <sys/types.h>

namespace muster {

struct SelfCount {
  std::uint32_t descriptors = 0;  // open
  std::uint64_t memory_kib = 0;   // resident

  bool operator==(const SelfCount&) const = default;
};

// Zeros where /proc cannot be read.
SelfCount CountSelf();

// Field 22 of /proc/self/stat: clock ticks from the start of the machine to that of this process; 0 if it is not told.
std::uint64_t OwnStartTicks();
// The same of another process; 0 also if there is none, or if it has ended and was not waited for.
std::uint64_t StartTicksOf(pid_t pid);

// What tells this start of the machine from all others (/proc/sys/kernel/random/boot_id); empty if it is not told.
std::string BootId();

}  // namespace muster
