// The description of a process to start, the lookup of its program, and the stages at which a start can fail. Uses
// PATH and file modes; starts nothing.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <sys/resource.h>
#include <tl/expected.hpp>

namespace muster {

// The description of a process to start, and the stages at which a start can fail. Starts nothing.

// Where a start can fail, in the order of execution (docs/glossary.md, "spawn stage").
enum class SpawnStage : std::uint8_t {
  kDescriptors,  // a descriptor could not be opened or passed
  kLog,          // the log file could not be created (agent/host/host_folder.h)
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
  std::string detail;  // the path, limit or number concerned, as a phrase for users

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

// A value above the hard limit that the caller inherited is lowered to it.
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
  // With a session of its own: stdin, a terminal without a session, becomes the session's controlling terminal, and the
  // process's group its foreground group (tty_ioctl(4), TIOCSCTTY).
  bool controlling_terminal = false;
  int parent_death_signal = 0;  // 0: none
  std::vector<ResourceLimit> limits;
  std::vector<std::uint32_t> cores;  // CPU affinity (sched_setaffinity(2)); empty: the parent's
};

// Pointers to the strings, for SpawnSpec::env; valid as long as `variables` is.
std::vector<const char*> EnvPointers(const std::vector<std::string>& variables);

// Finds the program of a command's first word, and muster's own programs. Uses PATH and file modes; starts
// nothing.

// The path to execute, absolute or relative to the child's folder, found as by execvp(3): with a slash it is used as it
// is; else the folders of the PATH in `spec.env` are searched (an empty entry is the child's folder, without PATH
// confstr's default is used), then `spec.search_dirs`. If only files are found that cannot be executed, the error is
// EACCES or, for a folder, EISDIR, rather than ENOENT.
tl::expected<std::string, SpawnError> FindProgram(const SpawnSpec& spec);

// The bytes of a word of a command or environment, with the NUL at its end, that Linux takes (MAX_ARG_STRLEN: 32
// pages).
std::size_t LongestWord();

// Why execve(2) of an existing `path` failed with `error`, as a phrase.
std::string ExecFailure(const SpawnSpec& spec, const std::string& path, int error);

// The path of that file name in the folder of the running program, with links resolved. Does not check that the file
// exists. Empty without /proc.
std::string BesideOwnProgram(std::string_view name);

}  // namespace muster
