// The state of a run at one moment, with the load and the last words of its processes on this host.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

#include "base/system/unique_fd.h"
#include "muster/result.h"
#include "run/control/control_protocol.h"
#include "top/top_state.h"

namespace muster {

// The last line of each of many logs, read again only when the log has changed.
//
// Reads a folder of logs; results are safe for a terminal.
class LastWords {
 public:
  // A folder that cannot be opened counts as empty.
  explicit LastWords(const std::string& logs_folder);

  // The last non-empty line near the end of the log of this name ("worker.2.0.log"); empty if there is
  // none.
  const std::string& Of(const std::string& name);

 private:
  struct Known {
    std::uint64_t size = 0;
    std::int64_t changed_ns = -1;
    std::string line;
  };

  UniqueFd folder_;
  std::unordered_map<std::string, Known> known_;
};

// CPU time and memory of processes of this host, from /proc/PID/stat (proc(5)).
//
// Identifies processes by pid and start time, so a reused pid is ignored. A process's children are not
// counted.

struct ProcStat {
  std::uint64_t start_ticks = 0;  // since boot
  std::uint64_t cpu_ticks = 0;    // user and system
  std::uint64_t rss_pages = 0;
};

// Parses a /proc/PID/stat; nothing if it is invalid.
std::optional<ProcStat> ParseProcStat(std::string_view text);

struct Load {
  double cpu_percent = 0;  // of one core: since the previous look, or at first since its start
  std::uint64_t memory_kib = 0;
};

// Measures the CPU and memory usage of processes between looks.

// Looks repeatedly, at each process at most once between two calls of Next().
class LoadMeter {
 public:
  LoadMeter();

  // Begins a new look. Processes that were not queried in the previous one are forgotten.
  void Next();
  // Nothing if the process has ended.
  std::optional<Load> Of(std::int32_t pid, std::uint64_t start_ticks);

 private:
  struct Seen {
    std::uint64_t start_ticks = 0;
    std::uint64_t cpu_ticks = 0;
    std::uint64_t at_ns = 0;
  };

  double ticks_per_second_;
  std::uint64_t page_kib_;
  double uptime_ = 0;  // seconds
  std::uint64_t now_ns_ = 0;
  std::unordered_map<std::int32_t, Seen> before_;
  std::unordered_map<std::int32_t, Seen> seen_;
};

// The state of a run at one moment: the head's answer, or the report of a run that is over, with CPU and memory from
// /proc for processes of this host and the last lines of all logs.
//
// Reads files and answers; sends no request to the head and draws nothing.

class TopSnapshots {
 public:
  explicit TopSnapshots(std::string run_dir);

  TopState Living(const ControlAnswer& answer);
  // For a run that is over. Fails as MakeReport does.
  Result<TopState> Ended();

  const std::string& run_dir() const { return run_dir_; }
  // The path of the attempt's log, whether it exists or not.
  std::string LogPath(const TopProcess& process, std::uint32_t attempt) const;

 private:
  void AddLastLines(TopState& state);

  std::string run_dir_;
  std::string own_host_;
  LoadMeter loads_;
  LastWords last_words_;
};

// A single look. Fails with kind "control" if a process holds the run and does not answer.
Result<TopState> ReadTopState(const std::string& run_dir);

}  // namespace muster
