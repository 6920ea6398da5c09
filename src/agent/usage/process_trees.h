// Processor time and resident memory of processes with their descendants, from one pass over /proc (proc(5)).
//
// Uses only files that the kernel serves without waiting for the process. Cgroups are not used: the processes of a run
// have one in common, and memory.current counts the files that they read.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include <sys/types.h>

namespace muster {

// A row of the kernel's table of processes.
struct KernelUsage {
  pid_t pid = 0;
  pid_t parent = 0;
  pid_t group = 0;
  std::uint64_t cpu_ticks = 0;  // its own, and those of the children that it has waited for
  std::uint64_t rss_pages = 0;

  bool operator==(const KernelUsage&) const = default;
};

// All processes that this one can see.
std::vector<KernelUsage> ReadKernelUsage();

struct TreeUsage {
  std::uint64_t cpu_ticks = 0;
  std::uint64_t rss_pages = 0;

  bool operator==(const TreeUsage&) const = default;
};

// The sums for each of these roots: a process counts for the nearest root above it, else, after its parents have
// exited, for the root whose process group it is in. Roots that are not in the table have no entry.
std::map<pid_t, TreeUsage> UsageOfTrees(const std::vector<KernelUsage>& processes, const std::vector<pid_t>& roots);

}  // namespace muster
