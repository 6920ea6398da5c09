#include "spawn/leftovers/leftovers.h"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <fstream>
#include <iterator>
#include <memory>
#include <optional>
#include <set>
#include <sstream>
#include <string_view>

#include <dirent.h>
#include <poll.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/system/unique_fd.h"
#include "base/values/parse_number.h"
#include "spawn/leftovers/cgroup.h"

namespace muster {
namespace {

using Clock = std::chrono::steady_clock;

std::string Content(pid_t pid, const char* file) {
  std::ifstream stream("/proc/" + std::to_string(pid) + "/" + file, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

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
