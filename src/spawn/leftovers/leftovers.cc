#include "spawn/leftovers/leftovers.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstddef>
#include <cstring>
#include <ctime>
#include <memory>
#include <new>
#include <sstream>
#include <string_view>
#include <unordered_set>

#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/system/kernel_file.h"
#include "base/system/own_process.h"
#include "base/system/unique_fd.h"
#include "base/values/number_text.h"
#include "spawn/leftovers/confinement.h"
#include "spawn/start/launcher.h"

namespace muster {
namespace {

using Clock = std::chrono::steady_clock;

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
  const auto text = KernelFile("/proc/" + std::to_string(pid) + "/stat");
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
    const auto text = KernelFile(threads + "/" + std::to_string(thread) + "/children");
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
  const auto environment = KernelFile("/proc/" + std::to_string(pid) + "/environ");
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

namespace {

constexpr std::size_t kCommands = 64;
constexpr std::size_t kBytes = 4000;

enum class State : std::uint32_t { kFree, kChanging, kSet };

struct Entry {
  std::atomic<State> state = State::kFree;
  std::atomic<std::uint32_t> running = 0;  // processes that need it
  pid_t owner = 0;
  std::uint64_t owner_start = 0;
  std::size_t size = 0;
  std::array<char, kBytes> words = {};  // each ends with a zero byte
};

struct List {
  std::atomic<std::uint32_t> set = 0;  // entries in use: none in most runs, and then no page of them is touched
  std::array<Entry, kCommands> entries = {};
};

// Shared memory, so that the list is complete even if its writer is killed.
List* list = nullptr;

std::string Joined(const std::vector<std::string>& command) {
  std::string joined;
  for (const std::string& word : command) joined.append(word).push_back('\0');
  return joined;
}

// Not by the pid alone: init processes of several PID namespaces have the same one.
bool IsOurs(const Entry& entry) {
  const auto self = entry.owner == ::getpid() ? Identify(entry.owner) : std::nullopt;
  return self && self->start_ticks == entry.owner_start;
}

Entry* Find(std::string_view joined) {
  if (list->set == 0) return nullptr;
  for (Entry& entry : list->entries) {
    if (entry.state == State::kSet && IsOurs(entry) && std::string_view(entry.words.data(), entry.size) == joined)
      return &entry;
  }
  return nullptr;
}

// Whether its owner is this process or has exited. A reused pid has another start time.
bool IsDue(const Entry& entry) {
  if (entry.owner == ::getpid()) return IsOurs(entry);
  const auto now = Identify(entry.owner);
  return !now || now->start_ticks != entry.owner_start;
}

void Run(const Entry& entry, std::chrono::milliseconds patience) {
  std::vector<char*> argv;
  std::array<char, kBytes> words = entry.words;
  for (std::size_t at = 0; at < entry.size; at += std::strlen(&words[at]) + 1) argv.push_back(&words[at]);
  argv.push_back(nullptr);
  posix_spawn_file_actions_t files;
  posix_spawnattr_t attributes;
  ::posix_spawn_file_actions_init(&files);
  ::posix_spawnattr_init(&attributes);
  const UniqueFd null(OpenNull());
  for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
    ::posix_spawn_file_actions_adddup2(&files, null.get(), fd);
  // Guards and agents block and ignore signals that the command needs.
  sigset_t none;
  sigset_t all;
  sigemptyset(&none);
  sigfillset(&all);
  ::posix_spawnattr_setsigmask(&attributes, &none);
  ::posix_spawnattr_setsigdefault(&attributes, &all);
  ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSID);
  pid_t pid = -1;
  if (::posix_spawnp(&pid, argv.front(), &files, &attributes, argv.data(), environ) == 0) {
    const UniqueFd pidfd(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));
    pollfd ready = {pidfd.get(), POLLIN, 0};
    int left = pidfd ? ::poll(&ready, 1, static_cast<int>(patience.count())) : 1;
    if (left == 0) ::kill(pid, SIGKILL);
    while (::waitpid(pid, nullptr, 0) < 0 && errno == EINTR) {
    }
  }
  ::posix_spawnattr_destroy(&attributes);
  ::posix_spawn_file_actions_destroy(&files);
}

}  // namespace

void FinalCommands::Share() {
  if (list != nullptr) return;
  void* const place = ::mmap(nullptr, sizeof *list, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  // Zero bytes are the initial value of every entry: constructing them would touch all pages.
  if (place != MAP_FAILED) list = static_cast<List*>(place);
}

bool FinalCommands::Begun(const std::vector<std::string>& command) {
  const std::string joined = Joined(command);
  if (list == nullptr || joined.empty() || joined.size() > kBytes) return false;
  if (Entry* known = Find(joined)) {
    ++known->running;
    return true;
  }
  const auto self = Identify(::getpid());
  for (Entry& entry : list->entries) {
    State free = State::kFree;
    if (!self || !entry.state.compare_exchange_strong(free, State::kChanging)) continue;
    entry.owner = self->pid;
    entry.owner_start = self->start_ticks;
    entry.size = joined.size();
    joined.copy(entry.words.data(), joined.size());
    entry.running = 1;
    entry.state = State::kSet;
    ++list->set;
    return true;
  }
  return false;
}

void FinalCommands::Ended(const std::vector<std::string>& command) {
  Entry* const known = list == nullptr || command.empty() ? nullptr : Find(Joined(command));
  if (known != nullptr && known->running > 0) --known->running;
}

std::uint32_t FinalCommands::RunNeeded(std::chrono::milliseconds patience) {
  std::uint32_t run = 0;
  if (list == nullptr || list->set == 0) return run;
  for (Entry& entry : list->entries) {
    State set = State::kSet;
    if (entry.state != State::kSet || !IsDue(entry) || !entry.state.compare_exchange_strong(set, State::kChanging))
      continue;
    if (entry.running > 0) {
      Run(entry, patience);
      ++run;
    }
    entry.state = State::kFree;
    --list->set;
  }
  return run;
}

namespace {

using Clock = std::chrono::steady_clock;

std::string Content(pid_t pid, const char* file) { return KernelText("/proc/" + std::to_string(pid) + "/" + file); }

std::vector<pid_t> AllPids() {
  std::vector<pid_t> pids;
  const std::unique_ptr<DIR, int (*)(DIR*)> proc(::opendir("/proc"), ::closedir);
  while (const dirent* entry = proc ? ::readdir(proc.get()) : nullptr) {
    if (const auto pid = ParseNumber<pid_t>(entry->d_name)) pids.push_back(*pid);
  }
  std::sort(pids.begin(), pids.end());
  return pids;
}

// A zombie has exited, but its parent has not waited for it yet.
bool IsZombie(pid_t pid) {
  const std::string stat = Content(pid, "stat");
  const std::size_t name_end = stat.rfind(") ");
  return name_end == std::string::npos || stat.compare(name_end + 2, 1, "Z") == 0 ||
         stat.compare(name_end + 2, 1, "X") == 0;
}

// The rest of the process's MUSTER_PROCESS after the token, as of its exec.
std::optional<std::string> NameByToken(pid_t pid, const std::string& token) {
  const std::string environment = Content(pid, "environ");
  const std::string wanted = "MUSTER_PROCESS=" + token;
  for (std::size_t at = 0; at < environment.size();) {
    const std::size_t end = std::min(environment.find('\0', at), environment.size());
    const std::string_view variable = std::string_view(environment).substr(at, end - at);
    if (variable.starts_with(wanted)) return std::string(variable.substr(wanted.size()));
    at = end + 1;
  }
  return std::nullopt;
}

// Real, effective and saved user: each of them can allow another user to signal it.
bool IsOf(pid_t pid, uid_t user) {
  std::istringstream lines(Content(pid, "status"));
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with("Uid:")) continue;
    std::istringstream fields(line.substr(4));
    uid_t real = 0;
    uid_t effective = 0;
    uid_t saved = 0;
    return fields >> real >> effective >> saved && real == user && effective == user && saved == user;
  }
  return false;
}

std::string ProgramOf(pid_t pid) {
  std::string name = Content(pid, "comm");
  if (name.ends_with('\n')) name.pop_back();
  return name;
}

// False if the process is gone, or its pid was reused.
bool Signal(const ProcessIdentity& process, int signal) {
  const UniqueFd pidfd(static_cast<int>(::syscall(SYS_pidfd_open, process.pid, 0)));
  if (!pidfd && errno != ENOSYS && errno != EPERM) return false;
  if (Identify(process.pid) != process) return false;
  if (pidfd) return ::syscall(SYS_pidfd_send_signal, pidfd.get(), signal, nullptr, 0) == 0;
  return ::kill(process.pid, signal) == 0;
}

}  // namespace

std::vector<Leftover> FindLeftovers(const LeftoverMarks& marks) {
  std::vector<pid_t> grouped = marks.cgroup.empty() ? std::vector<pid_t>{} : CgroupMembers(marks.cgroup);
  std::sort(grouped.begin(), grouped.end());
  std::vector<Leftover> found;
  for (const pid_t pid : AllPids()) {
    if (pid == ::getpid()) continue;
    const auto before = Identify(pid);
    if (!before) continue;
    Leftover leftover;
    const auto name = marks.token.empty() ? std::nullopt : NameByToken(pid, marks.token);
    const bool recorded =
        std::find(marks.identities.begin(), marks.identities.end(), *before) != marks.identities.end();
    if (!name && !recorded && !std::binary_search(grouped.begin(), grouped.end(), pid)) continue;
    if (marks.user && !IsOf(pid, *marks.user)) continue;
    leftover.process = *before;
    leftover.name = name.value_or("");
    leftover.program = ProgramOf(pid);
    // The data belong to this process only if its identity is unchanged after reading them.
    if (IsZombie(pid) || Identify(pid) != before) continue;
    found.push_back(std::move(leftover));
  }
  return found;
}

LeftoverEnd EndLeftovers(const LeftoverMarks& marks, std::chrono::milliseconds grace,
                         std::chrono::milliseconds patience) {
  constexpr int kGlanceMs = 20;  // exits of processes that are not children are not signalled, so poll
  const auto kill_at = Clock::now() + grace;
  const auto give_up_at = kill_at + patience;
  LeftoverEnd end;
  std::set<std::pair<pid_t, std::uint64_t>> seen;
  std::set<std::pair<pid_t, std::uint64_t>> killed;
  for (;;) {
    const std::vector<Leftover> now = FindLeftovers(marks);
    if (now.empty()) break;
    const bool kill = Clock::now() >= kill_at;
    for (const Leftover& one : now) {
      const std::pair key(one.process.pid, one.process.start_ticks);
      if (seen.insert(key).second) {
        end.found.push_back(one);
        if (!kill && Signal(one.process, SIGTERM)) Signal(one.process, SIGCONT);
      }
      if (kill && killed.insert(key).second && Signal(one.process, SIGKILL)) ++end.killed;
    }
    if (kill && !marks.cgroup.empty() && !marks.user) KillCgroup(marks.cgroup);
    if (Clock::now() >= give_up_at) {
      end.left = now;
      break;
    }
    ::poll(nullptr, 0, kGlanceMs);
  }
  if (!marks.cgroup.empty() && !marks.user) RemoveCgroup(marks.cgroup);
  return end;
}

}  // namespace muster
