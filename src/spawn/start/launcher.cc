#include "spawn/start/launcher.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <csignal>
#include <cstring>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "base/system/exit_statuses.h"
#include "base/values/number_list.h"
#include "base/values/shell_quote.h"
#include "spawn/command/find_program.h"
#include "spawn/start/child_side.h"
#include "spawn/start/clone_into.h"

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
    const UniqueFd low(::open("/dev/null", O_RDWR | O_CLOEXEC));
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
