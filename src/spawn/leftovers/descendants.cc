#include "spawn/leftovers/descendants.h"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <ctime>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_set>

#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/system/exit_statuses.h"
#include "base/system/unique_fd.h"
#include "base/values/parse_number.h"
#include "spawn/leftovers/final_commands.h"

namespace muster {
namespace {

using Clock = std::chrono::steady_clock;

std::optional<std::string> FileText(const std::string& path) {
  const UniqueFd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file) return std::nullopt;
  std::string text;
  std::array<char, 4096> buffer;  // not zeroed: most texts are short
  for (;;) {
    const ssize_t size = ::read(file.get(), buffer.data(), buffer.size());
    if (size < 0 && errno == EINTR) continue;
    if (size < 0) return std::nullopt;
    if (size == 0) return text;
    text.append(buffer.data(), static_cast<std::size_t>(size));
  }
}

template <class Visit>
void ForEachNumberIn(const char* folder, Visit visit) {
  const std::unique_ptr<DIR, int (*)(DIR*)> directory(::opendir(folder), ::closedir);
  if (!directory) return;
  while (const dirent* entry = ::readdir(directory.get())) {
    if (const auto number = ParseNumber<pid_t>(entry->d_name)) visit(*number);
  }
}

// Field `index` (from 1, as in proc(5)) of /proc/PID/stat. The name in field 2 may hold blanks and brackets.
std::optional<std::uint64_t> StatField(pid_t pid, int index) {
  const auto text = FileText("/proc/" + std::to_string(pid) + "/stat");
  if (!text) return std::nullopt;
  std::size_t at = text->rfind(") ");
  for (int field = 2; at != std::string::npos && field < index; ++field) at = text->find(' ', at) + 1;
  if (at == std::string::npos || at >= text->size()) return std::nullopt;
  const std::size_t end = std::min(text->find(' ', at), text->size());
  return ParseNumber<std::uint64_t>(std::string_view(*text).substr(at, end - at));
}

bool IsKept(const std::vector<ProcessIdentity>& keep, pid_t pid) {
  for (const ProcessIdentity& kept : keep) {
    if (kept.pid == pid) return Identify(pid) == kept;
  }
  return false;
}

enum class Wait : std::uint8_t { kRunning, kEnded, kNoChild };

Wait WaitFor(pid_t pid, int options) {
  siginfo_t info = {};
  for (;;) {
    if (::waitid(P_PID, static_cast<id_t>(pid), &info, options | WEXITED | WNOHANG | __WALL) == 0) break;
    if (errno != EINTR) return Wait::kNoChild;
  }
  return info.si_pid == 0 ? Wait::kRunning : Wait::kEnded;
}

// Returns when the child has exited, or after a moment in which new children may have appeared.
void AwaitEnd(pid_t pid, std::chrono::milliseconds at_most) {
  const UniqueFd pidfd(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));
  pollfd ready = {pidfd.get(), POLLIN, 0};
  ::poll(&ready, 1, static_cast<int>(at_most.count()));
}

}  // namespace

bool BecomeSubreaper() {
  FinalCommands::Share();
  KeepExitStatuses();
  return ::prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) == 0;
}

// The kernel notes CLOCK_BOOTTIME in copy_process(), and proc(5) shows it in clock ticks.
std::uint64_t StartTicksNow() {
  static const auto kNsPerTick = std::uint64_t{1'000'000'000} / static_cast<std::uint64_t>(::sysconf(_SC_CLK_TCK));
  timespec now = {};
  ::clock_gettime(CLOCK_BOOTTIME, &now);
  return (static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<std::uint64_t>(now.tv_nsec)) /
         kNsPerTick;
}

std::optional<ProcessIdentity> Identify(pid_t pid) {
  const auto start = StatField(pid, 22);
  if (!start) return std::nullopt;
  return ProcessIdentity{pid, *start};
}

std::vector<pid_t> ChildrenOf(pid_t parent) {
  std::vector<pid_t> children;
  bool listed = false;
  const std::string threads = "/proc/" + std::to_string(parent) + "/task";
  ForEachNumberIn(threads.c_str(), [&](pid_t thread) {
    const auto text = FileText(threads + "/" + std::to_string(thread) + "/children");
    if (!text) return;
    listed = true;
    for (std::size_t at = 0; at < text->size();) {
      const std::size_t end = std::min(text->find(' ', at), text->size());
      if (const auto pid = ParseNumber<pid_t>(std::string_view(*text).substr(at, end - at))) children.push_back(*pid);
      at = end + 1;
    }
  });
  if (listed || ::access("/proc/thread-self/children", F_OK) == 0) return children;
  // A kernel built without CONFIG_PROC_CHILDREN.
  ForEachNumberIn("/proc", [&](pid_t pid) {
    if (StatField(pid, 4) == static_cast<std::uint64_t>(parent)) children.push_back(pid);
  });
  return children;
}

std::vector<pid_t> ChildrenNow() { return ChildrenOf(::getpid()); }

namespace {

// Checks without reading a list, which is the most expensive step at the end of a short run.
bool HasNoChild() {
  siginfo_t info = {};
  return ::waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT | __WALL) != 0 && errno == ECHILD;
}

// Kills and reaps all children except those that are kept, in rounds.
KillReport KillChildren(const std::function<bool(pid_t)>& keep, std::chrono::milliseconds patience) {
  constexpr std::chrono::milliseconds kGlance(10);
  const auto deadline = Clock::now() + patience;
  KillReport report;
  std::unordered_set<pid_t> signalled;
  bool empty_before = false;
  for (;;) {
    if (HasNoChild()) return report;
    std::vector<pid_t> children = ChildrenNow();
    std::erase_if(children, keep);
    // The kernel's list may skip children while others exit, so only a second, unchanged list counts.
    if (children.empty()) {
      if (empty_before) return report;
      empty_before = true;
      continue;
    }
    empty_before = false;

    for (const pid_t pid : children) {
      if (signalled.contains(pid) || WaitFor(pid, WNOWAIT) != Wait::kRunning) continue;
      if (::kill(pid, SIGKILL) == 0) ++report.killed;
      signalled.insert(pid);
    }
    bool progress = false;
    for (const pid_t pid : children) {
      const Wait state = WaitFor(pid, 0);
      if (state == Wait::kRunning) continue;
      progress = true;
      signalled.erase(pid);  // the pid may be reused from now on
      if (state == Wait::kEnded) ++report.reaped;
    }
    if (progress) continue;
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now());
    if (left.count() <= 0) {
      report.left = std::move(children);
      return report;
    }
    AwaitEnd(children.front(), std::min(left, kGlance));
  }
}

// Whether the process was started with one of these variables; false for a process of another
// user.
bool IsMarked(pid_t pid, const std::set<std::string>& marks) {
  const auto environment = FileText("/proc/" + std::to_string(pid) + "/environ");
  if (!environment) return false;
  for (std::size_t at = 0; at < environment->size();) {
    const std::size_t end = std::min(environment->find('\0', at), environment->size());
    if (marks.contains(environment->substr(at, end - at))) return true;
    at = end + 1;
  }
  return false;
}

// Kills the marked process `pid`, which is no child of this process: a pidfd and a second look at the mark make sure
// that no other process is signalled. False if it is not marked.
bool KillMarked(pid_t pid, const std::set<std::string>& marks) {
  if (!IsMarked(pid, marks)) return false;
  const auto before = Identify(pid);
  const UniqueFd pidfd(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));
  if (!before || !pidfd || !IsMarked(pid, marks) || Identify(pid) != before) return false;
  return ::syscall(SYS_pidfd_send_signal, pidfd.get(), SIGKILL, nullptr, 0) == 0;
}

void KillMarkedBelow(pid_t parent, const std::set<std::string>& marks, std::unordered_set<pid_t>& killed) {
  for (const pid_t pid : ChildrenOf(parent)) {
    KillMarkedBelow(pid, marks, killed);
    if (KillMarked(pid, marks)) killed.insert(pid);
  }
}

// Kills the marked descendants of children that are not spared, until there are none: those of a killed process get
// another parent. Returns how many were killed.
std::uint32_t KillMarkedBelowChildren(const std::function<bool(pid_t)>& spare, const std::set<std::string>& marks,
                                      std::chrono::milliseconds patience) {
  const auto deadline = Clock::now() + patience;
  std::unordered_set<pid_t> killed;
  for (;;) {
    std::unordered_set<pid_t> now;
    for (const pid_t child : ChildrenNow()) {
      if (!spare(child)) KillMarkedBelow(child, marks, now);
    }
    if (now.empty()) return static_cast<std::uint32_t>(killed.size());
    killed.insert(now.begin(), now.end());
    if (Clock::now() >= deadline) return static_cast<std::uint32_t>(killed.size());
    AwaitEnd(*now.begin(), std::chrono::milliseconds(10));
  }
}

}  // namespace

KillReport KillDescendants(const std::vector<ProcessIdentity>& keep, std::chrono::milliseconds patience) {
  const auto kept = [&](pid_t pid) { return IsKept(keep, pid); };
  KillReport report = KillChildren(kept, patience);
  if (FinalCommands::RunNeeded() > 0) report.left = KillChildren(kept, patience).left;
  return report;
}

KillReport KillChildrenBut(const std::function<bool(pid_t)>& keep, std::chrono::milliseconds patience) {
  return KillChildren(keep, patience);
}

std::optional<pid_t> SessionOf(pid_t pid) {
  const auto session = StatField(pid, 6);
  if (!session) return std::nullopt;
  return static_cast<pid_t>(*session);
}

KillReport KillMarkedChildren(const std::function<bool(pid_t)>& spare, const std::set<std::string>& marks,
                              std::chrono::milliseconds patience) {
  // A zombie has no environment: remember which processes were marked until they are reaped.
  std::unordered_set<pid_t> marked;
  const std::uint32_t below = KillMarkedBelowChildren(spare, marks, patience);
  KillReport report = KillChildren(
      [&](pid_t pid) {
        if (spare(pid)) return true;
        if (!marked.contains(pid) && !IsMarked(pid, marks)) return true;
        marked.insert(pid);
        return false;
      },
      patience);
  report.killed += below;
  return report;
}

}  // namespace muster
