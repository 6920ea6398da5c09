// Resource usage and identity of this process, for the record of a run: they show descriptor leaks, and distinguish
// leftovers from foreign processes. Reads /proc.
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

// Field 22 of /proc/self/stat: clock ticks from boot to the start of this process; 0 if unknown.
std::uint64_t OwnStartTicks();
// The same for another process; 0 also if there is no such process, or if it is a zombie.
std::uint64_t StartTicksOf(pid_t pid);

// Identifies the current boot of the machine (/proc/sys/kernel/random/boot_id); empty if unknown.
std::string BootId();

}  // namespace muster
