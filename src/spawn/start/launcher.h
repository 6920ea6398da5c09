// Starts one process, with a pseudo-terminal if wanted: from a SpawnSpec to a pid with its pidfd, or to the stage at
// which the start failed. The new process makes only async-signal-safe calls before its program, on memory prepared
// by its suspended parent. Handles clone, descriptors and signals; independent of plans, protocols and event loops.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/types.h>
#include <tl/expected.hpp>

#include "base/system/mechanism.h"
#include "base/system/unique_fd.h"
#include "spawn/start/reap.h"
#include "spawn/start/spawn_spec.h"

namespace muster {

// Starts one process: from a SpawnSpec to a pid with its pidfd, or to the stage at which the start failed.
//
// Handles clone, descriptors and signals; independent of plans, protocols and event loops. Only this folder creates
// processes. A Launcher belongs to one thread, and that thread must outlive its children: a parent-death signal is sent
// when the thread that started the child exits (prctl(2)).

// A started process: its program is running (execve succeeded). It must be waited for.
struct Spawned {
  pid_t pid = -1;
  UniqueFd pidfd;  // none if the kernel does not support it

  ChildRef ref() const { return {pid, pidfd.get()}; }
};

// The kernel features in use. Each can be switched off; each is disabled at run time if the kernel or a seccomp filter
// refuses it, which costs only speed.
struct Mechanisms {
  bool pidfd = true;         // a pidfd of each process (5.4); else exits are reported by SIGCHLD and pids stay unreaped
  bool clone_pidfd = true;   // CLONE_PIDFD (5.2); else pidfd_open(2) (5.3)
  bool close_range = true;   // close_range(2) (5.9); else a walk over /proc/self/fd
  bool clone_files = true;   // CLONE_FILES with CLOSE_RANGE_UNSHARE; else the table is copied
  bool clone_cgroup = true;  // CLONE_INTO_CGROUP (5.7); else StartIn() refuses

  bool operator==(const Mechanisms&) const = default;
};

// All features except those switched off.
Mechanisms MechanismsBut(const Without& without);

// "pidfd", "close_range", "clone-files", or the substitutes: "pidfd-open" or "sigchld", "proc-fd",
// "copied-files".
std::vector<std::string> MechanismNames(const Mechanisms& mechanisms);

// Makes the kernel keep the exit statuses of this process's children until they are waited for: the caller of this
// program may have set SIGCHLD to be ignored, which is inherited.
void KeepExitStatuses();

class Launcher {
 public:
  explicit Launcher(Mechanisms wanted = {});
  ~Launcher();
  Launcher(const Launcher&) = delete;
  Launcher& operator=(const Launcher&) = delete;

  // Starts the process. Blocks until its execve succeeded or failed; a failed child has been reaped. In the child every
  // signal has its default disposition and none is blocked. Sets this process's SIGCHLD to its default if it was
  // ignored, since its children could not be waited for.
  tl::expected<Spawned, SpawnError> Spawn(const SpawnSpec& spec);

  // Starts all further processes in the cgroup (version 2) of this folder. Tested with a process that exits at once: on
  // failure returns false and changes nothing. If the group refuses a later start, that process and all later ones are
  // started outside of it. Processes in the group would also ignore what this process begins to ignore after this call.
  bool StartIn(UniqueFd group);

  // The features in use: those requested, less those that the kernel refused.
  const Mechanisms& mechanisms() const { return mechanisms_; }

 private:
  struct Memory;

  tl::expected<void, SpawnError> Prepare(std::size_t slots);
  tl::expected<void, SpawnError> FillSlots(const SpawnSpec& spec);
  void ClearSlots();
  tl::expected<Spawned, SpawnError> Clone();
  pid_t CloneOnce(int& pidfd);
  tl::expected<void, SpawnError> OpenPidfd(Spawned& spawned);

  Mechanisms mechanisms_;
  UniqueFd group_;
  std::uint64_t ignored_ = 0;  // signals, for starts in the group: bit N - 1 for signal N
  UniqueFd null_;
  // Low descriptors kept open on /dev/null. The child's own descriptors are put there before the clone, so that it can
  // leave the parent's descriptor table with one call that copies only what lies below them.
  std::vector<UniqueFd> slots_;
  std::size_t filled_ = 0;
  std::unique_ptr<Memory> memory_;
};

// Creates a pseudo-terminal: the terminal of a process, and its other end.
//
// Uses pty(7); independent of the processes at either end.

struct PseudoTerminal {
  UniqueFd master;  // non-blocking: bytes written to it are typed input, bytes read are the process's output
  UniqueFd slave;   // the process's terminal
};

// A new terminal with a window of this size, default modes, and input treated as UTF-8. It does not become a
// controlling terminal. Spawn stage "descriptors" if the kernel refuses it.
tl::expected<PseudoTerminal, SpawnError> OpenPseudoTerminal(const winsize& size);

}  // namespace muster
