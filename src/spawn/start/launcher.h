// Starting one process: from a SpawnSpec to a pid with its pidfd, or to the stage at which it failed.
//
// Knows clone, descriptors and signals; knows no plan, no protocol and no event loop. Only this folder
// creates processes. A Launcher belongs to one thread, and that thread must outlive its children: a
// parent-death signal fires when the thread that started the child ends (prctl(2)).
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <sys/resource.h>
#include <sys/types.h>
#include <tl/expected.hpp>

#include "base/system/unique_fd.h"
#include "base/system/without.h"
#include "spawn/command/spawn_spec.h"
#include "spawn/start/reap.h"

namespace muster {

// A started process: its program is running (execve succeeded). It must be waited for.
struct Spawned {
  pid_t pid = -1;
  UniqueFd pidfd;  // none where the kernel has none

  ChildRef ref() const { return {pid, pidfd.get()}; }
};

// What the kernel is asked to help with. Each can be switched off; each is given up at run time where the
// kernel or a seccomp filter refuses it, at the price of speed only.
struct Mechanisms {
  bool pidfd = true;         // a pidfd of each process (5.4); else SIGCHLD tells of ends, and pids that are not reaped
  bool clone_pidfd = true;   // CLONE_PIDFD (5.2); else pidfd_open(2) (5.3)
  bool close_range = true;   // close_range(2) (5.9); else a walk over /proc/self/fd
  bool clone_files = true;   // CLONE_FILES with CLOSE_RANGE_UNSHARE; else the table is copied
  bool clone_cgroup = true;  // CLONE_INTO_CGROUP (5.7); else StartIn() refuses

  bool operator==(const Mechanisms&) const = default;
};

// What is left when these are done without.
Mechanisms MechanismsBut(const Without& without);

// "pidfd", "close_range", "clone-files", or what stands in for them: "pidfd-open" or "sigchld", "proc-fd",
// "copied-files".
std::vector<std::string> MechanismNames(const Mechanisms& mechanisms);

class Launcher {
 public:
  explicit Launcher(Mechanisms wanted = {});
  ~Launcher();
  Launcher(const Launcher&) = delete;
  Launcher& operator=(const Launcher&) = delete;

  // Starts the process. Blocks until its execve succeeded or failed; a failed child has been reaped. In the
  // child every signal has its default disposition and none is blocked, whatever the parent has. The
  // parent's own SIGCHLD is set to its default if it was ignored, since its children could not be waited for.
  tl::expected<Spawned, SpawnError> Spawn(const SpawnSpec& spec);

  // Everything that is started from here on is born in the cgroup (version 2) whose folder this is. False, and nothing
  // has changed, if that is not to be had: found out with a process that ends at once. A start that the group refuses
  // later on is made outside of it, and so are those that follow.
  bool StartIn(UniqueFd group);

  // What is in use: what was wanted, less what the kernel turned out to refuse.
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
  UniqueFd null_;
  // Low descriptors kept open on /dev/null. The child's own ends are put there before the clone, so that it
  // can leave the parent's descriptor table with one call that copies only what lies below them.
  std::vector<UniqueFd> slots_;
  std::size_t filled_ = 0;
  std::unique_ptr<Memory> memory_;
};

}  // namespace muster
