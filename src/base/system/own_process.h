// This process: what it corrects of the state that its caller left it (closed descriptors 0 to 2, a hard limit
// of processor time), its resource usage, and its identity in the record of a run.
#pragma once

#include <cstdint>
#include <string>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/types.h>

namespace muster {

// Ensures that descriptors 0, 1 and 2 are open from the start of a program: otherwise a file opened later would get one
// of these numbers and be used as the terminal. A separate header so that examples, which link nothing of muster, can
// use it too.

// A new descriptor of /dev/null at the lowest free number, for reading and writing; where there is none (a root with
// /proc alone), of an empty file in memory, which nothing can be written to. `flags`: O_CLOEXEC or 0. -1, with errno,
// if there is no descriptor or memory.
inline int OpenNull(int flags = O_CLOEXEC) {
  if (const int null = ::open("/dev/null", O_RDWR | flags); null >= 0) return null;
  const int empty = ::memfd_create("null", MFD_ALLOW_SEALING | ((flags & O_CLOEXEC) != 0 ? MFD_CLOEXEC : 0));
  if (empty >= 0) ::fcntl(empty, F_ADD_SEALS, F_SEAL_WRITE | F_SEAL_GROW | F_SEAL_SHRINK | F_SEAL_SEAL);
  return empty;
}

// Opens /dev/null for each of the descriptors 0 to 2 that is closed (`muster run … <&- >&- 2>&-`). Must be called first
// in main(). False, with errno, as OpenNull().
inline bool FillStandardDescriptors() {
  for (int fd = 0; fd <= 2; ++fd) {
    if (::fcntl(fd, F_GETFD) < 0 && OpenNull(0) != fd) return false;
  }
  return true;
}

// Leaves this process time to stop before the hard limit of its processor time, at which the kernel kills it without a
// word: `ulimit -t` sets both limits to the same number, and SIGXCPU comes at the soft one.

// Lowers the soft limit by a tenth, one second at least and five at most, if it is the hard one and that is 2 seconds
// or more. Call it once, before threads are started.
void LowerProcessorLimit();

// The limit that this process had before, for the agents that it starts.
rlimit CallersProcessorLimit();

// How far below the hard limit, in seconds; 0: the limit stays as it is.
rlim_t ProcessorMargin(const rlimit& limit);

// Resource usage and identity of this process, for the record of a run: they show descriptor leaks, and distinguish
// leftovers from foreign processes. Reads /proc.

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
