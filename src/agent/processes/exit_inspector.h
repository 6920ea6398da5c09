// Evidence on the host for the cause of an exit besides the exit status: a kill by the kernel for lack of memory, the
// path of a core dump, the log of a sanitizer, and a full disk. Inspects the host only if the exit status gives a
// reason to.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <sys/types.h>

#include "base/system/unique_fd.h"
#include "muster/event.h"

namespace muster {

// Detects processes that the kernel killed for lack of memory: from the counter of the agent's own cgroup, which
// includes the groups below it (cgroup v2: memory.events; v1: memory.oom_control, of one group only), and from the
// kernel log if the agent may read it.
//
// Reads these files; independent of the plan. Without them nothing is detected.

// The counter's file for the content of /proc/self/cgroup, or of the root group if a container hides the path: the
// first of the two that exists is to be read. Empty without a memory controller.
struct MemoryCounterFile {
  std::string path;
  std::string fallback;
};
MemoryCounterFile MemoryCounterFileOf(std::string_view proc_self_cgroup);

// The number after "oom_kill " in either file; nothing if there is none.
std::optional<std::uint64_t> MemoryKillsIn(std::string_view events);

// Parses a record of /dev/kmsg about a killed process: its pid, the time in microseconds since boot, and the text.
// Nothing for all other records.
struct MemoryKillRecord {
  pid_t pid = 0;
  std::uint64_t at_us = 0;
  std::string words;
};
std::optional<MemoryKillRecord> MemoryKillIn(std::string_view record);

class MemoryKills {
 public:
  MemoryKills();

  // Ignores kills counted so far, as initially.
  void CountFromNow();

  // A phrase with the evidence that the process, which was killed by SIGKILL and had been started at `started`, was
  // killed for lack of memory; empty if there is none. One count of the cgroup is evidence for one process.
  std::string Of(pid_t pid, MonotonicNs started);

 private:
  std::optional<std::uint64_t> ReadCounter() const;
  void ReadLog();

  std::string counter_;
  UniqueFd counter_file_;
  std::uint64_t attributed_ = 0;
  bool log_tried_ = false;
  UniqueFd log_;
  std::map<pid_t, MemoryKillRecord> logged_;
};

// Determines where the kernel writes a core dump, by the rules of core(5) for core_pattern.
//
// Interprets the pattern; opens no file.

// The process that dumped.
struct Dumped {
  std::int32_t pid = 0;
  std::int32_t signal = 0;
  std::uint32_t user = 0;
  std::uint32_t group = 0;
  std::string host;
  std::string cwd;  // absolute; base of a pattern without a leading slash
};

struct CorePlace {
  enum class Kind : std::uint8_t {
    kNowhere,  // an empty pattern
    kProgram,  // `text` is the program that reads the dump from its standard input
    kFile,     // `text` is its path
    kGlob      // `text` is a pattern for glob(3), because the path contains values known only to the kernel, such as
               // the time
  };
  Kind kind = Kind::kNowhere;
  std::string text;

  bool operator==(const CorePlace&) const = default;
};

// `pattern` is the content of /proc/sys/kernel/core_pattern without the final newline, `uses_pid` that of
// /proc/sys/kernel/core_uses_pid.
CorePlace CorePlaceOf(std::string_view pattern, bool uses_pid, const Dumped& dumped);

// Evidence on the host for the cause of an exit besides the exit status: the path of a core dump, the log of a
// sanitizer, a kill by the kernel for lack of memory, and a full disk.
//
// Inspects the host only if the exit status gives a reason to.
class ExitInspector {
 public:
  // `memory` must outlive this object.
  explicit ExitInspector(MemoryKills& memory) : memory_(memory) {}

  // `sanitizer_logs`: the files that a sanitizer in the process would write.
  void Started(const ProcessStarted& event, const std::string& cwd, const std::string& log,
               std::vector<std::string> sanitizer_logs = {});
  // A signal that the agent sent.
  void Signalled(const SignalSent& event);
  // The evidence for this exit; usually empty. Forgets the attempt.
  std::vector<EndEvidence> Ended(const ProcessExited& event);

 private:
  struct Running {
    std::int32_t pid = 0;
    MonotonicNs at = 0;
    std::string cwd;
    std::string log;
    std::vector<std::string> sanitizer_logs;
    bool killed = false;   // by the agent
    bool stopped = false;  // received any signal from the agent
  };

  std::map<std::pair<ProcessId, std::uint32_t>, Running> running_;
  MemoryKills& memory_;
};

}  // namespace muster
