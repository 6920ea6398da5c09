// What a new process does between its creation and its program: only async-signal-safe calls, on memory
// that it shares with its suspended parent and that the parent has prepared.
//
// Knows system calls and nothing else: no allocation, no locks, no libc state (errno excepted, which the
// parent does not look at).
#pragma once

#include <cstddef>

#include <sys/types.h>

#include "spawn/start/launcher.h"

namespace muster {

// Where the child says how far it got. In memory that stays shared even if the child was forked.
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

  // Descriptor sources[i] becomes targets[i]; `spare` numbers from here on are neither.
  int* sources = nullptr;
  const int* targets = nullptr;
  std::size_t fds = 0;
  bool overlap = false;  // some source is another's target
  int spare = 0;
  const FdGap* gaps = nullptr;  // everything that is no target
  std::size_t gap_count = 0;
  bool unshare = false;      // the descriptor table is the parent's until close_range says otherwise
  bool close_range = false;  // else /proc/self/fd

  Grouping grouping = Grouping::kInherit;
  bool controlling_terminal = false;
  int parent_death_signal = 0;
  pid_t parent = 0;
  const ResourceLimit* limits = nullptr;
  std::size_t limit_count = 0;
  const void* cores = nullptr;  // the kernel's set of them; null: stay
  std::size_t core_bytes = 0;

  ChildReport* report = nullptr;
};

// Entry point for clone(2); `orders` is a ChildOrders*. Does not return.
int RunChild(void* orders);
// Another one, for a child that is to do nothing: it exits with 0. `unused` may be null.
int EndChild(void* unused);

}  // namespace muster
