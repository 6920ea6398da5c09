// The code of a new process between its creation and its program: only async-signal-safe calls, on memory prepared by,
// and shared with, its suspended parent.
//
// Uses system calls only: no allocation, no locks, no libc state (except errno, which the parent does not
// read).
#pragma once

#include <cstddef>
#include <cstdint>

#include <sys/types.h>

#include "spawn/start/launcher.h"

namespace muster {

// The child's progress. Its memory stays shared even if the child was forked.
struct ChildReport {
  int failed = 0;  // 1: stage and error say why
  int error = 0;
  SpawnStage stage = SpawnStage::kExec;
  unsigned item = 0;  // which descriptor or limit
};

struct FdGap {
  unsigned first = 0;
  unsigned last = 0;  // inclusive
};

struct ChildOrders {
  const char* path = nullptr;
  char* const* argv = nullptr;
  char* const* env = nullptr;
  const char* cwd = nullptr;  // null: stay

  // Descriptor sources[i] becomes targets[i]; numbers from `spare` on are neither sources nor targets.
  int* sources = nullptr;
  const int* targets = nullptr;
  std::size_t fds = 0;
  bool overlap = false;  // some source is another's target
  int spare = 0;
  const FdGap* gaps = nullptr;  // all numbers that are not targets
  std::size_t gap_count = 0;
  bool unshare = false;      // the descriptor table is shared with the parent until close_range unshares it
  bool close_range = false;  // else through /proc/self/fd

  Grouping grouping = Grouping::kInherit;
  bool controlling_terminal = false;
  int parent_death_signal = 0;
  pid_t parent = 0;
  const ResourceLimit* limits = nullptr;
  std::size_t limit_count = 0;
  std::uint64_t dispositions = ~std::uint64_t{0};  // signals to reset: bit N - 1 for signal N
  const void* cores = nullptr;                     // CPU set in the kernel's format; null: inherit
  std::size_t core_bytes = 0;

  ChildReport* report = nullptr;
};

// Entry point for clone(2); `orders` is a ChildOrders*. Does not return.
int RunChild(void* orders);
// Another entry point, for a child that only exits with 0. `unused` may be null.
int EndChild(void* unused);

}  // namespace muster
