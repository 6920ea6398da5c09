// What holds the processes of an agent together, so that none survives it: a control group that the kernel kills at
// once, a PID namespace whose init is the calling process, and a guard, the parent of one process that does nothing
// else and survives if the process's other relatives are gone.
#pragma once

#include <csignal>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <sys/types.h>
#include <tl/expected.hpp>

#include "base/system/unique_fd.h"
#include "spawn/start/reap.h"
#include "wire/connection/lease.h"

namespace muster {

// A control group (cgroup v2) for all processes of an agent, so that the kernel can kill them at once, even if they
// fork in the meantime (cgroup.kill, Linux 5.14).
//
// Uses the files of cgroups(7). Each agent creates a new group and kills it once, at the end: no process is started in
// a group that has been killed (Linux 6.18 was seen to kill such processes).

// The cgroup v2 folder of a process, from its /proc/PID/cgroup and /proc/PID/mountinfo. Empty if the hierarchy is not
// mounted where the process could see its own group.
std::string CgroupFolder(std::string_view cgroup, std::string_view mountinfo);

class Cgroup {
 public:
  // Creates the group below the one of this process. Nothing if there is no such hierarchy, no write permission, or no
  // cgroup.kill.
  static std::optional<Cgroup> MakeBelowOwn(const std::string& name);

  Cgroup(Cgroup&& other) noexcept;
  Cgroup(const Cgroup&) = delete;
  Cgroup& operator=(const Cgroup&) = delete;
  Cgroup& operator=(Cgroup&&) = delete;
  ~Cgroup();  // leaves the group if this process is in it, and removes the group if it is empty

  const std::string& path() const { return path_; }

  // The folder, for Launcher::StartIn, which starts processes directly in the group. None if it cannot be opened.
  UniqueFd Open() const;
  // The alternative: moves this process, and so all processes that it starts later, into the group; false if the kernel
  // refuses. Entering and leaving take some milliseconds each, since the kernel synchronises all processors.
  bool Enter();
  // Kills all processes in the group; this process leaves it first. True if there were processes and the kill was
  // accepted; they still have to be reaped.
  bool Kill();

 private:
  Cgroup(std::string path, std::string above) : path_(std::move(path)), above_(std::move(above)) {}

  std::string path_;
  std::string above_;
  bool inside_ = false;
};

// The processes in that group now; empty if it does not exist.
std::vector<pid_t> CgroupMembers(const std::string& path);
// Kills all processes in that group; false on failure.
bool KillCgroup(const std::string& path);
// Removes the group; false if it does not exist or is not empty.
bool RemoveCgroup(const std::string& path);

// The guard (watchdog) of one process: its parent, which does nothing else and survives if the process's other
// relatives are gone (docs/decisions/0061-every-agent-has-a-guard.md).
//
// Handles signals and waits; the caller decides what the guard does after the process has exited.

// The parent-death signal for whatever becomes a guard on this machine: unlike SIGTERM it also takes effect in a
// process that has been stopped.
inline constexpr int kGuardDeathSignal = SIGCONT;

// Waits for the exit of a child and reaps it. Forwards SIGTERM, takes the end of its own parent (kGuardDeathSignal) for
// one, and kills a child that has not exited `patience_ms` later, unless `goes_on`, called then, says that it has
// decided to go on. Also kills a child that has been stopped (SIGSTOP) for `most_stopped_ms`, a function called at that
// moment; 0: no limit. Time in which the guard itself did not run does not count: it was stopped together with the
// child. Must be called in a single-threaded process that has SIGCHLD and SIGTERM blocked.
EndedProcess GuardChild(pid_t child, const std::function<std::uint64_t()>& most_stopped_ms,
                        std::uint64_t patience_ms = kDefaultLeaseMs, const std::function<bool()>& goes_on = {});

// Exits in the same way: with that exit code, or by that signal, without a core dump of its own.
[[noreturn]] void EndAs(const EndedProcess& ended);

// Writes the number of processes that a guard has killed to a pipe.
void WriteKilledCount(int pipe, std::uint32_t killed);
// Reads that number; 0 if none was written. Does not block.
std::uint32_t ReadKilledCount(int pipe);

// Runs the calling process as the init of a PID namespace (pid_namespaces(7)): when it exits, for whatever reason, the
// kernel kills every process in the namespace, even those that left its session or cleared their environment.
//
// Handles namespaces, pids and the guard outside; independent of what runs inside. Pids that are reported to other
// processes must be those of the outer namespace, which is the head's.

struct NamespaceError {
  std::string stage;  // "unshare", "map", "fork", "mount", "proc", "pids"
  int error = 0;      // errno
};

// "a PID namespace cannot be made: unshare: Operation not permitted; user.max_user_namespaces is 0"
std::string NamespaceErrorText(const NamespaceError& error);

class PidNamespace {
 public:
  // Returns in a new process: the init of a new namespace, with a /proc of its own. The calling process stays outside
  // as its guard and does not return: it forwards SIGTERM, kills the init if it is killed
  // itself, and exits as the init does. The namespace is created with privilege if available, else in a new user
  // namespace that maps this user and group alone. Must be called in a single-threaded process that has SIGCHLD and
  // SIGTERM blocked. An error is returned in the caller or in a child that has replaced it; start nothing then.
  static tl::expected<PidNamespace, NamespaceError> Enter();

  // The pid of the calling process in the outer namespace.
  pid_t OwnPid() const;
  // The outer pid of a child of the calling process; 0 if it no longer exists, not even as a zombie.
  pid_t PidOf(pid_t inside) const;
  // All processes of the namespace: inner pid to outer pid.
  std::map<pid_t, pid_t> Pids() const;
  // The path of the outer namespace's /proc.
  const std::string& proc() const { return proc_; }

 private:
  explicit PidNamespace(UniqueFd outside);

  UniqueFd outside_;
  std::string proc_;
};

// The last number of the line "NSpid:" of a /proc/PID/status: the pid in the innermost namespace. Nothing without such
// a line.
std::optional<pid_t> InnermostPid(std::string_view status);

}  // namespace muster
