#include "spawn/start/launcher.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <csignal>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/close_range.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include "base/system/own_process.h"
#include "base/values/number_text.h"
#include "base/values/quoting.h"
#include "spawn/start/forks.h"

namespace muster {

// The code of a new process between its creation and its program: only async-signal-safe calls, on memory prepared by,
// and shared with, its suspended parent.
//
// Uses system calls only: no allocation, no locks, no libc state (except errno, which the parent does not
// read).

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

// clone(2) under a name that no sanitizer intercepts: clang's TSan aborts a process that calls `clone` with
// CLONE_VM.
extern "C" int __clone(int (*)(void*), void*, int, void*, ...) noexcept;  // NOLINT(bugprone-reserved-identifier)

namespace muster {
namespace {

constexpr std::size_t kStackBytes = 64U << 10;
constexpr std::size_t kUsualSlots = 4;
constexpr int kFirstSlot = 3;  // 0 to 2 belong to the process itself, open or not

tl::unexpected<SpawnError> Failed(SpawnStage stage, int error, std::string detail = {}) {
  return tl::unexpected<SpawnError>(SpawnError{stage, error, std::move(detail)});
}

rlim_t SoftLimit(__rlimit_resource resource) {
  rlimit limit = {};
  return ::getrlimit(resource, &limit) == 0 ? limit.rlim_cur : RLIM_INFINITY;
}

tl::unexpected<SpawnError> NoDescriptor(int error) {
  if (error != EMFILE) return Failed(SpawnStage::kDescriptors, error);
  return Failed(SpawnStage::kDescriptors, error, fmt::format("RLIMIT_NOFILE is {}", SoftLimit(RLIMIT_NOFILE)));
}

// Whether a retry may succeed without any change.
bool MayPass(int error) { return error == EAGAIN || error == ENOMEM || error == EMFILE || error == ENFILE; }

// Zero bytes would silently truncate a string in execve.
bool HasZero(const std::string& text) { return text.find('\0') != std::string::npos; }

// The kernel's CPU set: one bit per core, in words.
std::vector<unsigned long> CoreSet(const std::vector<std::uint32_t>& cores) {
  constexpr std::size_t kBits = 8 * sizeof(unsigned long);
  std::vector<unsigned long> words;
  for (const std::uint32_t core : cores) {
    if (words.size() <= core / kBits) words.resize(core / kBits + 1);
    words[core / kBits] |= 1UL << (core % kBits);
  }
  return words;
}

class SignalsBlocked {
 public:
  SignalsBlocked() {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  ~SignalsBlocked() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  SignalsBlocked(const SignalsBlocked&) = delete;
  SignalsBlocked& operator=(const SignalsBlocked&) = delete;

 private:
  sigset_t before_ = {};
};

// CLONE_CLEAR_SIGHAND (5.5): what has a handler gets its default; what is ignored stays ignored. It saves a system call
// for each signal.
constexpr std::uint64_t kDefaultHandlers = 0x100000000;

std::uint64_t IgnoredSignals() {
  std::uint64_t ignored = 0;
  for (int signal = 1; signal <= 64; ++signal) {
    // The kernel's struct sigaction begins with the handler. The C library hides two signals.
    std::array<std::uintptr_t, 8> action = {};
    const long asked = ::syscall(SYS_rt_sigaction, signal, nullptr, action.data(), sizeof(std::uint64_t));
    if (asked == 0 && action[0] == reinterpret_cast<std::uintptr_t>(SIG_IGN)) ignored |= 1ULL << (signal - 1);
  }
  return ignored;
}

}  // namespace

// Memory that the child reads and writes while the parent is suspended.
struct Launcher::Memory {
  std::byte* stack = nullptr;  // grows down; its lowest page is a guard
  ChildReport* report = nullptr;
  ChildOrders orders;
  std::string path;
  std::vector<char*> argv;
  std::vector<char*> env;
  std::vector<int> sources;
  std::vector<int> targets;
  std::vector<int> sorted;
  std::vector<FdGap> gaps;
  std::vector<unsigned long> cores;

  ~Memory() {
    if (stack != nullptr) ::munmap(stack, kStackBytes);
    if (report != nullptr) ::munmap(report, sizeof *report);
  }
};

Launcher::Launcher(Mechanisms wanted) : mechanisms_(wanted) {
  // Closes nothing, since no number is that high; tests whether the call exists and is permitted.
  if (mechanisms_.close_range && ::syscall(SYS_close_range, ~0U, ~0U, 0) != 0) mechanisms_.close_range = false;
  if (!mechanisms_.close_range) mechanisms_.clone_files = false;
  // No descriptor has that number: EBADF from a kernel that can wait by pidfd, EINVAL from others.
  constexpr int kByPidfd = 3;
  siginfo_t info = {};
  if (mechanisms_.pidfd && ::syscall(SYS_waitid, kByPidfd, INT_MAX, &info, WEXITED | WNOHANG, nullptr) != 0 &&
      errno != EBADF) {
    mechanisms_.pidfd = false;
  }
  if (!mechanisms_.pidfd) mechanisms_.clone_pidfd = false;
}

Launcher::~Launcher() = default;

bool Launcher::StartIn(UniqueFd group) {
  if (!mechanisms_.clone_cgroup || !group || !Prepare(0)) return false;
  CloneIntoOrders trial;
  trial.group = group.get();
  trial.flags = CLONE_VM | CLONE_VFORK | kDefaultHandlers;
  trial.stack = memory_->stack;
  trial.stack_bytes = kStackBytes;
  trial.entry = EndChild;
  pid_t pid = -1;
  {
    const SignalsBlocked blocked;
    pid = CloneInto(trial);
  }
  int status = 0;
  while (pid > 0 && ::waitpid(pid, &status, __WALL) < 0 && errno == EINTR) {
  }
  // Since 6.14 the kernel kills a process started in a group if that group and its parent's have not been killed
  // equally often (cgroup.kill); so test with a process that exits at once.
  if (pid <= 0 || status != 0) return mechanisms_.clone_cgroup = false;
  group_ = std::move(group);
  ignored_ = IgnoredSignals();
  return true;
}

void KeepExitStatuses() {
  struct sigaction children = {};
  if (::sigaction(SIGCHLD, nullptr, &children) == 0 &&
      (children.sa_handler == SIG_IGN || (children.sa_flags & SA_NOCLDWAIT) != 0)) {
    children = {};
    children.sa_handler = SIG_DFL;
    ::sigaction(SIGCHLD, &children, nullptr);
  }
}

tl::expected<void, SpawnError> Launcher::Prepare(std::size_t slots) {
  if (!memory_) {
    KeepExitStatuses();
    auto memory = std::make_unique<Memory>();
    void* stack = ::mmap(nullptr, kStackBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
    if (stack == MAP_FAILED) return Failed(SpawnStage::kClone, errno);
    memory->stack = static_cast<std::byte*>(stack);
    ::mprotect(stack, static_cast<std::size_t>(::sysconf(_SC_PAGESIZE)), PROT_NONE);
    void* report = ::mmap(nullptr, sizeof(ChildReport), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (report == MAP_FAILED) return Failed(SpawnStage::kClone, errno);
    memory->report = new (report) ChildReport;
    memory_ = std::move(memory);
  }
  if (!null_) {
    const UniqueFd low(OpenNull());
    if (!low) return NoDescriptor(errno);
    // Must not become 0, 1 or 2 in a process that was started with one of them closed.
    null_.reset(::fcntl(low.get(), F_DUPFD_CLOEXEC, kFirstSlot));
    if (!null_) return NoDescriptor(errno);
  }
  while (slots_.size() < std::max(slots, kUsualSlots)) {
    UniqueFd slot(::fcntl(null_.get(), F_DUPFD_CLOEXEC, kFirstSlot));
    if (!slot) return NoDescriptor(errno);
    slots_.push_back(std::move(slot));
  }
  return {};
}

tl::expected<void, SpawnError> Launcher::FillSlots(const SpawnSpec& spec) {
  Memory& memory = *memory_;
  memory.sources.clear();
  memory.targets.clear();
  filled_ = 0;
  const auto fill = [&](int fd, int target) {
    const int slot = slots_[filled_].get();
    ++filled_;
    memory.sources.push_back(slot);
    memory.targets.push_back(target);
    return fd < 0 || ::dup3(fd, slot, O_CLOEXEC) >= 0;
  };
  const std::array<int, 3> standard = {spec.stdin_fd, spec.stdout_fd, spec.stderr_fd};
  for (int target = 0; target < 3; ++target) {
    const int fd = standard[static_cast<std::size_t>(target)];
    if (!fill(fd, target)) return Failed(SpawnStage::kDescriptors, errno, fmt::format("descriptor {}", fd));
  }
  for (const PassedFd& passed : spec.passed) {
    const bool taken = std::find(memory.targets.begin(), memory.targets.end(), passed.target) != memory.targets.end();
    if (passed.target < 3 || passed.source < 0 || taken) {
      return Failed(SpawnStage::kDescriptors, EINVAL, fmt::format("descriptor {} as {}", passed.source, passed.target));
    }
    if (!fill(passed.source, passed.target)) {
      return Failed(SpawnStage::kDescriptors, errno, fmt::format("descriptor {}", passed.source));
    }
  }

  // The child closes everything between and beyond the targets.
  memory.sorted = memory.targets;
  std::sort(memory.sorted.begin(), memory.sorted.end());
  memory.gaps.clear();
  unsigned next = 0;
  for (const int target : memory.sorted) {
    const auto number = static_cast<unsigned>(target);
    if (number > next) memory.gaps.push_back({next, number - 1});
    next = number + 1;
  }
  memory.gaps.push_back({next, ~0U});

  int highest = memory.sorted.back();
  bool overlap = false;
  for (const int source : memory.sources) {
    highest = std::max(highest, source);
    overlap = overlap || std::binary_search(memory.sorted.begin(), memory.sorted.end(), source);
  }
  ChildOrders& orders = memory.orders;
  orders.sources = memory.sources.data();
  orders.targets = memory.targets.data();
  orders.fds = memory.targets.size();
  orders.overlap = overlap;
  orders.spare = highest + 1;
  orders.gaps = memory.gaps.data();
  orders.gap_count = memory.gaps.size();
  return {};
}

// Otherwise a pipe would stay open in the launcher, and its reader would never see end of file.
void Launcher::ClearSlots() {
  for (std::size_t i = 0; i < filled_; ++i) ::dup3(null_.get(), slots_[i].get(), O_CLOEXEC);
  filled_ = 0;
}

tl::expected<void, SpawnError> Launcher::OpenPidfd(Spawned& spawned) {
  spawned.pidfd.reset(static_cast<int>(::syscall(SYS_pidfd_open, spawned.pid, 0)));
  if (spawned.pidfd) return {};
  const int error = errno;
  if (error == ENOSYS || error == EPERM || error == EINVAL) {
    mechanisms_.pidfd = false;
    return {};
  }
  // Not waited for yet, so the pid is still this child's.
  KillChild(spawned.ref());
  ReapAtEnd(spawned.ref());
  return NoDescriptor(error);
}

// The child's pid, or minus an errno.
pid_t Launcher::CloneOnce(int& pidfd) {
  Memory& memory = *memory_;
  int flags = CLONE_VM | CLONE_VFORK;
  if (mechanisms_.clone_files) flags |= CLONE_FILES;
  if (mechanisms_.clone_pidfd) flags |= CLONE_PIDFD;
  // The child shares our memory: no signal handler may run in it, nor in the parent while the child is set up.
  const SignalsBlocked blocked;
  memory.orders.dispositions = group_ ? ignored_ : ~std::uint64_t{0};
  if (group_) {
    return CloneInto({group_.get(), static_cast<std::uint64_t>(flags) | kDefaultHandlers, SIGCHLD, &pidfd, memory.stack,
                      kStackBytes, RunChild, &memory.orders});
  }
  const pid_t pid =
      ::__clone(RunChild, memory.stack + kStackBytes, flags | SIGCHLD, &memory.orders, &pidfd, nullptr, nullptr);
  return pid < 0 ? -errno : pid;
}

tl::expected<Spawned, SpawnError> Launcher::Clone() {
  Memory& memory = *memory_;
  for (;;) {
    *memory.report = {};
    memory.orders.report = memory.report;
    memory.orders.unshare = mechanisms_.clone_files;
    memory.orders.close_range = mechanisms_.close_range;
    int pidfd = -1;
    const pid_t pid = CloneOnce(pidfd);
    if (pid < 0) {
      const int error = -pid;
      if (group_ && !MayPass(error)) {
        group_.reset();
        mechanisms_.clone_cgroup = false;
        continue;
      }
      const bool refused = error == EINVAL || error == ENOSYS || error == EPERM;
      if (refused && (mechanisms_.clone_pidfd || mechanisms_.clone_files)) {
        mechanisms_.clone_pidfd = mechanisms_.clone_files = false;
        continue;
      }
      if (error == EMFILE) return NoDescriptor(error);
      std::string detail;
      if (error == EAGAIN)
        detail = fmt::format("RLIMIT_NPROC is {}, or a limit of the cgroup", SoftLimit(RLIMIT_NPROC));
      return Failed(SpawnStage::kClone, error, std::move(detail));
    }

    Spawned spawned{pid, UniqueFd(pidfd)};
    if (memory.report->failed != 0) {
      while (::waitpid(pid, nullptr, 0) < 0 && errno == EINTR) {
      }
      return Failed(memory.report->stage, memory.report->error);
    }
    if (!spawned.pidfd && mechanisms_.pidfd) {  // not requested, or the kernel does not support the flag
      mechanisms_.clone_pidfd = false;
      auto opened = OpenPidfd(spawned);
      if (!opened) return tl::unexpected<SpawnError>(std::move(opened.error()));
    }
    return spawned;
  }
}

tl::expected<Spawned, SpawnError> Launcher::Spawn(const SpawnSpec& spec) {
  if (auto prepared = Prepare(3 + spec.passed.size()); !prepared) {
    return tl::unexpected<SpawnError>(std::move(prepared.error()));
  }
  if (HasZero(spec.cwd)) return Failed(SpawnStage::kDirectory, EINVAL, Quoted(spec.cwd) + " holds a zero byte");
  for (const std::string& argument : spec.argv) {
    if (HasZero(argument)) return Failed(SpawnStage::kExec, EINVAL, Quoted(argument) + " holds a zero byte");
  }

  Memory& memory = *memory_;
  auto path = FindProgram(spec);
  if (!path) {
    struct stat folder = {};
    if (!spec.cwd.empty() && ::stat(spec.cwd.c_str(), &folder) != 0) {
      return Failed(SpawnStage::kDirectory, errno, Quoted(spec.cwd));
    }
    return tl::unexpected<SpawnError>(std::move(path.error()));
  }
  memory.path = std::move(*path);
  memory.argv.clear();
  for (const std::string& argument : spec.argv) memory.argv.push_back(const_cast<char*>(argument.c_str()));
  memory.argv.push_back(nullptr);
  memory.env.clear();
  for (const char* variable : spec.env) memory.env.push_back(const_cast<char*>(variable));
  memory.env.push_back(nullptr);

  ChildOrders& orders = memory.orders;
  orders = {};
  orders.path = memory.path.c_str();
  orders.argv = memory.argv.data();
  orders.env = memory.env.data();
  orders.cwd = spec.cwd.empty() ? nullptr : spec.cwd.c_str();
  orders.grouping = spec.grouping;
  orders.controlling_terminal = spec.controlling_terminal;
  orders.parent_death_signal = spec.parent_death_signal;
  orders.parent = ::getpid();
  orders.limits = spec.limits.data();
  orders.limit_count = spec.limits.size();
  memory.cores = CoreSet(spec.cores);
  orders.cores = memory.cores.empty() ? nullptr : memory.cores.data();
  orders.core_bytes = memory.cores.size() * sizeof(unsigned long);

  if (auto filled = FillSlots(spec); !filled) {
    ClearSlots();
    return tl::unexpected<SpawnError>(std::move(filled.error()));
  }
  auto spawned = Clone();
  ClearSlots();
  if (spawned || memory.report->failed == 0) return spawned;

  SpawnError error = std::move(spawned.error());
  const unsigned item = memory.report->item;
  switch (error.stage) {
    case SpawnStage::kDirectory:
      error.detail = Quoted(spec.cwd);
      break;
    case SpawnStage::kStdio:
      error.detail = fmt::format("descriptor {}", memory.targets[item]);
      break;
    case SpawnStage::kLimits:
      error.detail = fmt::format("resource {} to {} (hard {})", static_cast<int>(spec.limits[item].resource),
                                 spec.limits[item].value.rlim_cur, spec.limits[item].value.rlim_max);
      break;
    case SpawnStage::kAffinity:
      error.detail = "cores " + NumberListText(spec.cores);
      break;
    case SpawnStage::kSignals:
      error.detail = item == 0 ? "mask" : fmt::format("signal {}", item);
      break;
    case SpawnStage::kParentDeath:
      error.detail = fmt::format("signal {}", spec.parent_death_signal);
      break;
    case SpawnStage::kExec:
      error.detail = ExecFailure(spec, memory.path, error.error);
      break;
    case SpawnStage::kDescriptors:
    case SpawnStage::kLog:
    case SpawnStage::kClone:
    case SpawnStage::kSession:
    case SpawnStage::kGroup:
    case SpawnStage::kTerminal:
      break;
  }
  return tl::unexpected<SpawnError>(std::move(error));
}

Mechanisms MechanismsBut(const Without& without) {
  Mechanisms left;
  left.pidfd = left.clone_pidfd = !without.Has(Mechanism::kPidfd);
  left.close_range = !without.Has(Mechanism::kCloseRange);
  left.clone_files = left.close_range && !without.Has(Mechanism::kCloneFiles);
  left.clone_cgroup = !without.Has(Mechanism::kCloneCgroup);
  return left;
}

std::vector<std::string> MechanismNames(const Mechanisms& mechanisms) {
  return {!mechanisms.pidfd        ? "sigchld"
          : mechanisms.clone_pidfd ? "pidfd"
                                   : "pidfd-open",
          mechanisms.close_range ? "close_range" : "proc-fd", mechanisms.clone_files ? "clone-files" : "copied-files"};
}

}  // namespace muster

namespace muster {
namespace {

tl::unexpected<SpawnError> Refused(int error) {
  return tl::unexpected<SpawnError>(SpawnError{SpawnStage::kDescriptors, error, "a pseudo-terminal"});
}

// Through the master if the kernel supports it (4.13), so that another mount of devpts does not matter; else by name.
UniqueFd OpenSlave(int master) {
  constexpr int kFlags = O_RDWR | O_NOCTTY | O_CLOEXEC;
  UniqueFd slave(::ioctl(master, TIOCGPTPEER, kFlags));
  std::array<char, 64> name = {};
  if (!slave && ::ptsname_r(master, name.data(), name.size()) == 0) slave.reset(::open(name.data(), kFlags));
  return slave;
}

}  // namespace

tl::expected<PseudoTerminal, SpawnError> OpenPseudoTerminal(const winsize& size) {
  PseudoTerminal made;
  made.master.reset(::posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC | O_NONBLOCK));
  if (!made.master || ::grantpt(made.master.get()) != 0 || ::unlockpt(made.master.get()) != 0) return Refused(errno);
  made.slave = OpenSlave(made.master.get());
  termios modes = {};
  if (!made.slave || ::tcgetattr(made.slave.get(), &modes) != 0) return Refused(errno);
  modes.c_iflag |= IUTF8;
  if (::tcsetattr(made.slave.get(), TCSANOW, &modes) != 0 || ::ioctl(made.master.get(), TIOCSWINSZ, &size) != 0) {
    return Refused(errno);
  }
  return made;
}

}  // namespace muster
