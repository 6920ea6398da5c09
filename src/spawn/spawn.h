// Starting one process: from a SpawnSpec to a pid with its pidfd, or to the stage at which it failed.
//
// Knows clone, descriptors and signals; knows no plan, no protocol and no event loop. This is the only room
// that creates processes. A Launcher belongs to one thread, and that thread must outlive its children: a
// parent-death signal fires when the thread that started the child ends (prctl(2)).
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <sys/resource.h>
#include <sys/types.h>
#include <tl/expected.hpp>

#include "base/mechanism.h"
#include "base/unique_fd.h"
#include "spawn/reap.h"

namespace muster {

// Where a start can fail, in the order in which things happen (docs/glossary.md, "spawn stage").
enum class SpawnStage : std::uint8_t {
  kDescriptors,  // a descriptor could not be had or handed over
  kLog,          // the log file could not be created (agent/log_files.h)
  kClone,        // the process could not be created
  kSession,
  kGroup,
  kParentDeath,
  kDirectory,
  kStdio,
  kTerminal,  // stdin could not become the controlling terminal
  kLimits,
  kAffinity,
  kSignals,
  kExec,  // the program was not found or could not be executed
};

inline constexpr std::array<std::string_view, 13> kSpawnStageNames = {
    "descriptors", "log",      "clone",  "session",  "group",   "parent_death", "directory",
    "stdio",       "terminal", "limits", "affinity", "signals", "exec"};
static_assert(kSpawnStageNames.size() == static_cast<std::size_t>(SpawnStage::kExec) + 1);

constexpr std::string_view SpawnStageName(SpawnStage stage) {
  return kSpawnStageNames[static_cast<std::size_t>(stage)];
}

struct SpawnError {
  SpawnStage stage = SpawnStage::kExec;
  int error = 0;       // errno
  std::string detail;  // the path, limit or number concerned, as a phrase for people

  bool operator==(const SpawnError&) const = default;
};

// "exec: No such file or directory: …"
std::string SpawnErrorText(const SpawnError& error);

enum class Grouping : std::uint8_t { kInherit, kOwnGroup, kOwnSession };

// The child finds a duplicate of `source` under the number `target` (3 or more).
struct PassedFd {
  int source = -1;
  int target = -1;
};

struct ResourceLimit {
  __rlimit_resource resource = RLIMIT_CORE;
  rlimit value = {};
};

struct SpawnSpec {
  // argv[0] with a slash is the program's path (relative to `cwd`); without one it is looked up on the PATH
  // of `env`, then in `search_dirs`.
  std::vector<std::string> argv;
  std::vector<std::string> search_dirs;
  // "NAME=value"; the child's whole environment. The strings must live until Spawn returns.
  std::vector<const char*> env;
  std::string cwd;  // empty: the parent's
  // Descriptors of the parent, duplicated into the child; -1 is /dev/null. The child has 0, 1, 2 and
  // `passed`, and nothing else.
  int stdin_fd = -1;
  int stdout_fd = -1;
  int stderr_fd = -1;
  std::vector<PassedFd> passed;
  Grouping grouping = Grouping::kInherit;
  // With a session of its own: stdin, a terminal that no session has, becomes the session's controlling terminal, and
  // the process's group the one in its foreground (tty_ioctl(4), TIOCSCTTY).
  bool controlling_terminal = false;
  int parent_death_signal = 0;  // 0: none
  std::vector<ResourceLimit> limits;
  std::vector<std::uint32_t> cores;  // that it may run on (sched_setaffinity(2)); empty: the parent's
};

// Pointers to the strings, for SpawnSpec::env; valid as long as `variables` is.
std::vector<const char*> EnvPointers(const std::vector<std::string>& variables);

// A started process: its program is running (execve succeeded). It must be waited for.
struct Spawned {
  pid_t pid = -1;
  UniqueFd pidfd;  // none where the kernel has none

  ChildRef ref() const { return {pid, pidfd.get()}; }
};

// What the kernel is asked to help with. Each can be switched off; each is given up at run time where the
// kernel or a seccomp filter refuses it, at the price of speed only.
struct Mechanisms {
  bool pidfd = true;        // a pidfd of each process (5.4); else SIGCHLD tells of ends, and pids that are not reaped
  bool clone_pidfd = true;  // CLONE_PIDFD (5.2); else pidfd_open(2) (5.3)
  bool close_range = true;  // close_range(2) (5.9); else a walk over /proc/self/fd
  bool clone_files = true;  // CLONE_FILES with CLOSE_RANGE_UNSHARE; else the table is copied

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

  // What is in use: what was wanted, less what the kernel turned out to refuse.
  const Mechanisms& mechanisms() const { return mechanisms_; }

 private:
  struct Memory;

  tl::expected<void, SpawnError> Prepare(std::size_t slots);
  tl::expected<void, SpawnError> FillSlots(const SpawnSpec& spec);
  void ClearSlots();
  tl::expected<Spawned, SpawnError> Clone();
  tl::expected<void, SpawnError> OpenPidfd(Spawned& spawned);

  Mechanisms mechanisms_;
  UniqueFd null_;
  // Low descriptors kept open on /dev/null. The child's own ends are put there before the clone, so that it
  // can leave the parent's descriptor table with one call that copies only what lies below them.
  std::vector<UniqueFd> slots_;
  std::size_t filled_ = 0;
  std::unique_ptr<Memory> memory_;
};

}  // namespace muster
