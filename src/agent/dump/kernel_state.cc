#include "agent/dump/kernel_state.h"

#include <algorithm>
#include <array>
#include <memory>
#include <utility>

#include <dirent.h>
#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/system/kernel_file.h"
#include "base/system/unique_fd.h"
#include "base/values/number_text.h"
#include "base/values/text_parts.h"

namespace muster {
namespace {

constexpr std::size_t kMaxText = 8U << 10;  // maximum bytes read from a file
constexpr std::size_t kMaxStackLines = 24;

// System calls in which processes often block. `about`: the first argument is a descriptor.
struct Call {
  long number;
  std::string_view name;
  bool about = false;
};
constexpr Call kCalls[] = {
    {SYS_read, "read", true},
    {SYS_write, "write", true},
    {SYS_readv, "readv", true},
    {SYS_writev, "writev", true},
    {SYS_pread64, "pread64", true},
    {SYS_pwrite64, "pwrite64", true},
    {SYS_recvfrom, "recvfrom", true},
    {SYS_recvmsg, "recvmsg", true},
    {SYS_sendto, "sendto", true},
    {SYS_sendmsg, "sendmsg", true},
    {SYS_connect, "connect", true},
    {SYS_accept, "accept", true},
    {SYS_accept4, "accept4", true},
    {SYS_fsync, "fsync", true},
    {SYS_fdatasync, "fdatasync", true},
    {SYS_flock, "flock", true},
    {SYS_fcntl, "fcntl", true},
    {SYS_ioctl, "ioctl", true},
    {SYS_sendfile, "sendfile", true},
    {SYS_splice, "splice", true},
    {SYS_fallocate, "fallocate", true},
    {SYS_getdents64, "getdents64", true},
    {SYS_openat, "openat"},
    {SYS_ppoll, "ppoll"},
    {SYS_pselect6, "pselect6"},
    {SYS_epoll_pwait, "epoll_pwait"},
#ifdef SYS_poll
    {SYS_poll, "poll"},
#endif
#ifdef SYS_select
    {SYS_select, "select"},
#endif
#ifdef SYS_epoll_wait
    {SYS_epoll_wait, "epoll_wait"},
#endif
#ifdef SYS_pause
    {SYS_pause, "pause"},
#endif
#ifdef SYS_open
    {SYS_open, "open"},
#endif
    {SYS_futex, "futex"},
    {SYS_wait4, "wait4"},
    {SYS_waitid, "waitid"},
    {SYS_nanosleep, "nanosleep"},
    {SYS_clock_nanosleep, "clock_nanosleep"},
    {SYS_rt_sigsuspend, "rt_sigsuspend"},
    {SYS_rt_sigtimedwait, "rt_sigtimedwait"},
    {SYS_semtimedop, "semtimedop"},
    {SYS_msgrcv, "msgrcv"},
    {SYS_mq_timedreceive, "mq_timedreceive"},
    {SYS_io_getevents, "io_getevents"},
    {SYS_mmap, "mmap"},
    {SYS_munmap, "munmap"},
    {SYS_madvise, "madvise"},
    {SYS_execve, "execve"},
    {SYS_exit_group, "exit_group"},
    {SYS_restart_syscall, "restart_syscall"},
    {SYS_sched_yield, "sched_yield"},
};

std::string FileText(const std::string& path) { return KernelText(path).substr(0, kMaxText); }

std::string LinkTarget(const std::string& path) {
  std::array<char, 4096> target = {};
  const ssize_t size = ::readlink(path.c_str(), target.data(), target.size());
  return std::string(target.data(), size > 0 ? static_cast<std::size_t>(size) : 0);
}

// The next word of a text separated by blanks; moves `text` past it.
std::string_view TakeWord(std::string_view& text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\n')) text.remove_prefix(1);
  const std::size_t end = std::min(text.find_first_of(" \n"), text.size());
  const std::string_view word = text.substr(0, end);
  text.remove_prefix(end);
  return word;
}

std::vector<pid_t> ThreadsOf(pid_t pid) {
  std::vector<pid_t> threads;
  const std::string folder = "/proc/" + std::to_string(pid) + "/task";
  const std::unique_ptr<DIR, int (*)(DIR*)> directory(::opendir(folder.c_str()), ::closedir);
  while (const dirent* entry = directory ? ::readdir(directory.get()) : nullptr) {
    if (const auto tid = ParseNumber<pid_t>(entry->d_name)) threads.push_back(*tid);
  }
  std::sort(threads.begin(), threads.end(),
            [pid](pid_t a, pid_t b) { return std::pair(a != pid, a) < std::pair(b != pid, b); });
  return threads;
}

// Processor time of /proc/PID/task/TID in nanoseconds, else from the coarser clock ticks.
std::uint64_t ThreadCpuNs(const std::string& folder) {
  const std::string text = FileText(folder + "/schedstat");
  std::string_view rest = text;
  if (const auto ns = ParseNumber<std::uint64_t>(TakeWord(rest))) return *ns;
  const auto stat = ParseStat(FileText(folder + "/stat"));
  const long per_second = ::sysconf(_SC_CLK_TCK);
  return stat && per_second > 0 ? stat->cpu_ticks * (1'000'000'000 / static_cast<std::uint64_t>(per_second)) : 0;
}

std::uint64_t CpuNs(pid_t pid, const std::vector<pid_t>& threads) {
  std::uint64_t sum = 0;
  for (const pid_t tid : threads) {
    sum += ThreadCpuNs("/proc/" + std::to_string(pid) + "/task/" + std::to_string(tid));
  }
  return sum;
}

bool IsPython(pid_t pid) {
  const std::string program = LinkTarget("/proc/" + std::to_string(pid) + "/exe");
  const std::string_view name = std::string_view(program).substr(program.rfind('/') + 1);
  return name.starts_with("python") || name.starts_with("pypy");
}

KernelThread LookAtThread(pid_t pid, pid_t tid) {
  const std::string folder = "/proc/" + std::to_string(pid) + "/task/" + std::to_string(tid);
  KernelThread thread;
  thread.tid = tid;
  if (const auto stat = ParseStat(FileText(folder + "/stat"))) {
    thread.name = stat->name;
    thread.state = stat->state;
  }
  thread.wait = FileText(folder + "/wchan");
  if (thread.wait == "0") thread.wait.clear();
  const SyscallText call = ParseSyscall(FileText(folder + "/syscall"));
  thread.call = call.call;
  if (call.descriptor) {
    thread.target = LinkTarget("/proc/" + std::to_string(pid) + "/fd/" + std::to_string(*call.descriptor));
  }
  const std::string stack = FileText(folder + "/stack");
  for (std::string_view line : TextLines(stack)) {
    if (thread.stack.size() == kMaxStackLines) break;
    if (line.starts_with("[<0>] ")) line.remove_prefix(6);
    thread.stack.emplace_back(line);
  }
  return thread;
}

}  // namespace

std::vector<KernelProcess> ProcessTree(pid_t root) {
  std::vector<KernelProcess> tree;
  std::vector<std::pair<pid_t, pid_t>> open = {{root, 0}};  // with the parent; the next one is last
  while (!open.empty() && tree.size() < kMaxKernelProcesses) {
    const auto [pid, parent] = open.back();
    open.pop_back();
    const auto identity = Identify(pid);
    const auto stat = ReadStat(pid);
    // It may have exited, and another process may have its pid.
    if (!identity || !stat || (parent != 0 && stat->parent != parent)) continue;
    KernelProcess process;
    process.identity = *identity;
    process.parent = stat->parent;
    process.name = stat->name;
    process.python = IsPython(pid);
    process.cpu_ns = CpuNs(pid, ThreadsOf(pid));
    tree.push_back(std::move(process));
    std::vector<pid_t> children = ChildrenOf(pid);
    std::sort(children.rbegin(), children.rend());
    for (const pid_t child : children) open.emplace_back(child, pid);
  }
  return tree;
}

void ReadThreadStates(KernelProcess& process) {
  const pid_t pid = process.identity.pid;
  if (Identify(pid) != process.identity) return;
  const std::vector<pid_t> threads = ThreadsOf(pid);
  process.threads_seen = threads.size();
  process.cpu_ns = CpuNs(pid, threads);
  for (const pid_t tid : threads) {
    if (process.threads.size() == kMaxKernelThreads) break;
    process.threads.push_back(LookAtThread(pid, tid));
  }
}

std::string_view ThreadStateName(char state) {
  switch (state) {
    case 'R':
      return "running";
    case 'S':
      return "sleeping";
    case 'D':
      return "uninterruptible";
    case 'T':
      return "stopped";
    case 't':
      return "traced";
    case 'Z':
      return "zombie";
    case 'X':
      return "dead";
    case 'I':
      return "idle";
    case 'P':
      return "parked";
    default:
      return {};
  }
}

std::optional<StatText> ParseStat(std::string_view text) {
  const std::size_t open = text.find('(');
  const std::size_t close = text.rfind(") ");
  if (open == std::string_view::npos || close == std::string_view::npos || close < open) return std::nullopt;
  StatText stat;
  stat.name = std::string(text.substr(open + 1, close - open - 1));
  std::string_view rest = text.substr(close + 2);
  const std::string_view state = TakeWord(rest);
  const auto parent = ParseNumber<pid_t>(TakeWord(rest));
  if (state.size() != 1 || !parent) return std::nullopt;
  stat.state = state.front();
  stat.parent = *parent;
  // The parent is field 4.
  for (int field = 5; field <= 24; ++field) {
    const std::string_view word = TakeWord(rest);
    const std::uint64_t number = ParseNumber<std::uint64_t>(word).value_or(0);
    if (field == 5) stat.group = ParseNumber<pid_t>(word).value_or(0);
    if (field == 14 || field == 15) stat.cpu_ticks += number;
    if (field == 16 || field == 17) stat.children_ticks += number;
    if (field == 24) stat.rss_pages = number;
  }
  return stat;
}

std::optional<StatText> ReadStat(pid_t pid) { return ParseStat(FileText("/proc/" + std::to_string(pid) + "/stat")); }

SyscallText ParseSyscall(std::string_view text) {
  SyscallText syscall;
  const auto number = ParseNumber<long>(TakeWord(text));
  if (!number || *number < 0) return syscall;
  const auto* const known =
      std::find_if(std::begin(kCalls), std::end(kCalls), [&](const Call& call) { return call.number == *number; });
  if (known == std::end(kCalls)) {
    syscall.call = std::to_string(*number);
    return syscall;
  }
  syscall.call = known->name;
  const std::string_view first = TakeWord(text);
  if (!known->about || !first.starts_with("0x")) return syscall;
  if (const auto fd = ParseNumber<std::uint64_t>(first.substr(2), 16); fd && *fd <= 0x7fffffff) {
    syscall.descriptor = static_cast<int>(*fd);
  }
  return syscall;
}

std::string TargetKind(std::string_view target) {
  constexpr std::string_view kAnonymous = "anon_inode:";
  if (target.starts_with(kAnonymous)) {
    target.remove_prefix(kAnonymous.size());
    if (target.starts_with('[') && target.ends_with(']')) target = target.substr(1, target.size() - 2);
    return std::string(target);
  }
  const std::size_t number = target.find(":[");
  return std::string(target.starts_with('/') ? target : target.substr(0, number));
}

}  // namespace muster
