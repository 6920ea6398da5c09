#include "spawn/start/child_side.h"

#include <cerrno>
#include <csignal>
#include <cstdint>

#include <fcntl.h>
#include <linux/close_range.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

// Sanitizers keep state per process, which a child that shares its parent's memory must not change. The calls that
// sanitizers intercept are made as bare system calls for the same reason.
#define MUSTER_BARE __attribute__((no_sanitize("address", "thread", "undefined"), noinline))

namespace muster {
namespace {

// The kernel's struct sigaction (SIG_DFL, no flags, empty mask): all zeros on every architecture.
struct KernelSigaction {
  std::uint64_t words[4];
};

struct DirectoryEntry {  // getdents64(2)
  std::uint64_t inode;
  std::int64_t offset;
  std::uint16_t size;
  unsigned char type;
  char name[1];
};

MUSTER_BARE void Fail(const ChildOrders& orders, SpawnStage stage, unsigned item = 0) {
  orders.report->error = errno;
  orders.report->stage = stage;
  orders.report->item = item;
  orders.report->failed = 1;
  for (;;) ::syscall(SYS_exit_group, 127);
}

MUSTER_BARE bool IsTarget(const ChildOrders& orders, int fd) {
  for (std::size_t i = 0; i < orders.fds; ++i) {
    if (orders.targets[i] == fd) return true;
  }
  return false;
}

// The slow way, for kernels without close_range(2).
MUSTER_BARE void CloseByDirectory(const ChildOrders& orders) {
  const long directory = ::syscall(SYS_openat, AT_FDCWD, "/proc/self/fd", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (directory < 0) {
    rlimit limit = {};
    if (::syscall(SYS_prlimit64, 0, RLIMIT_NOFILE, nullptr, &limit) != 0) Fail(orders, SpawnStage::kDescriptors);
    for (rlim_t fd = 0; fd < limit.rlim_cur; ++fd) {
      if (!IsTarget(orders, static_cast<int>(fd))) ::syscall(SYS_close, fd);
    }
    return;
  }
  alignas(DirectoryEntry) char buffer[2048];
  for (;;) {
    const long size = ::syscall(SYS_getdents64, directory, buffer, sizeof buffer);
    if (size < 0) Fail(orders, SpawnStage::kDescriptors);
    if (size == 0) break;
    for (long at = 0; at < size;) {
      const auto* entry = reinterpret_cast<const DirectoryEntry*>(buffer + at);
      at += entry->size;
      int fd = 0;
      bool number = true;
      for (const char* c = entry->name; *c != '\0'; ++c) {
        number = number && *c >= '0' && *c <= '9';
        fd = fd * 10 + (*c - '0');
      }
      if (number && fd != directory && !IsTarget(orders, fd)) ::syscall(SYS_close, fd);
    }
  }
  if (!IsTarget(orders, static_cast<int>(directory))) ::syscall(SYS_close, directory);
}

MUSTER_BARE void CloseGaps(const ChildOrders& orders) {
  if (!orders.close_range) return CloseByDirectory(orders);
  for (std::size_t i = 0; i < orders.gap_count; ++i) {
    if (::syscall(SYS_close_range, orders.gaps[i].first, orders.gaps[i].last, 0) != 0) {
      Fail(orders, SpawnStage::kDescriptors);
    }
  }
}

MUSTER_BARE void PlaceDescriptors(const ChildOrders& orders) {
  if (orders.overlap) {
    for (std::size_t i = 0; i < orders.fds; ++i) {
      const long moved = ::syscall(SYS_fcntl, orders.sources[i], F_DUPFD_CLOEXEC, orders.spare);
      if (moved < 0) Fail(orders, SpawnStage::kStdio, static_cast<unsigned>(i));
      orders.sources[i] = static_cast<int>(moved);
    }
  }
  for (std::size_t i = 0; i < orders.fds; ++i) {
    if (::syscall(SYS_dup3, orders.sources[i], orders.targets[i], 0) < 0) {
      Fail(orders, SpawnStage::kStdio, static_cast<unsigned>(i));
    }
  }
  // /proc is opened only now: its descriptor could otherwise get a target's number.
  CloseGaps(orders);
}

MUSTER_BARE void SetGroup(const ChildOrders& orders) {
  if (orders.grouping == Grouping::kOwnSession && ::syscall(SYS_setsid) < 0) Fail(orders, SpawnStage::kSession);
  if (orders.grouping == Grouping::kOwnGroup && ::syscall(SYS_setpgid, 0, 0) != 0) Fail(orders, SpawnStage::kGroup);
}

MUSTER_BARE void SetParentDeath(const ChildOrders& orders) {
  if (orders.parent_death_signal == 0) return;
  if (::syscall(SYS_prctl, PR_SET_PDEATHSIG, orders.parent_death_signal, 0, 0, 0) != 0) {
    Fail(orders, SpawnStage::kParentDeath);
  }
  // The parent may have exited before the call; then no signal is sent.
  if (::syscall(SYS_getppid) != orders.parent) {
    errno = ESRCH;
    Fail(orders, SpawnStage::kParentDeath);
  }
}

MUSTER_BARE void ResetSignals(const ChildOrders& orders) {
  // Dispositions before the mask: a pending signal must not run the parent's handler in the child. Ignored signals
  // would otherwise stay ignored across execve (signal(7)).
  const KernelSigaction by_default = {};
  constexpr std::size_t kMaskBytes = 8;
  for (int signal = 1; signal <= 64; ++signal) {
    if (signal == SIGKILL || signal == SIGSTOP || (orders.dispositions >> (signal - 1) & 1U) == 0) continue;
    if (::syscall(SYS_rt_sigaction, signal, &by_default, nullptr, kMaskBytes) != 0) {
      Fail(orders, SpawnStage::kSignals, static_cast<unsigned>(signal));
    }
  }
  const std::uint64_t nothing = 0;
  if (::syscall(SYS_rt_sigprocmask, SIG_SETMASK, &nothing, nullptr, kMaskBytes) != 0) {
    Fail(orders, SpawnStage::kSignals);
  }
}

}  // namespace

MUSTER_BARE int EndChild(void* unused) {
  static_cast<void>(unused);
  for (;;) ::syscall(SYS_exit_group, 0);
}

MUSTER_BARE int RunChild(void* argument) {
  const ChildOrders& orders = *static_cast<const ChildOrders*>(argument);
  if (orders.unshare) {
    // No descriptor may be touched before this: the table is still shared with the parent.
    const unsigned first = static_cast<unsigned>(orders.spare);
    if (::syscall(SYS_close_range, first, ~0U, CLOSE_RANGE_UNSHARE) != 0) Fail(orders, SpawnStage::kDescriptors);
  }
  SetGroup(orders);
  SetParentDeath(orders);
  if (orders.cwd != nullptr && ::syscall(SYS_chdir, orders.cwd) != 0) Fail(orders, SpawnStage::kDirectory);
  PlaceDescriptors(orders);
  if (orders.controlling_terminal && ::syscall(SYS_ioctl, STDIN_FILENO, TIOCSCTTY, 0) != 0) {
    Fail(orders, SpawnStage::kTerminal);
  }
  for (std::size_t i = 0; i < orders.limit_count; ++i) {
    const ResourceLimit& limit = orders.limits[i];
    // A hard limit that the caller has lowered stays: only a privileged process could raise it.
    rlimit inherited = {};
    rlimit value = limit.value;
    if (::syscall(SYS_prlimit64, 0, limit.resource, nullptr, &inherited) == 0) {
      if (value.rlim_cur > inherited.rlim_max) value.rlim_cur = inherited.rlim_max;
      if (value.rlim_max > inherited.rlim_max) value.rlim_max = inherited.rlim_max;
    }
    if (::syscall(SYS_prlimit64, 0, limit.resource, &value, nullptr) != 0) {
      Fail(orders, SpawnStage::kLimits, static_cast<unsigned>(i));
    }
  }
  if (orders.cores != nullptr && ::syscall(SYS_sched_setaffinity, 0, orders.core_bytes, orders.cores) != 0) {
    Fail(orders, SpawnStage::kAffinity);
  }
  ResetSignals(orders);
  ::syscall(SYS_execve, orders.path, orders.argv, orders.env);
  Fail(orders, SpawnStage::kExec);
  return 127;
}

}  // namespace muster
