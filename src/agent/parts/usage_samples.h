// Samples of what the running processes use, sent to the head at intervals that grow with the time since the first
// start: processor time and memory of processes with their descendants, from one pass over /proc, and the memory of
// devices, from the vendor's tool. The tool is a child process with a time limit, never more than one at a time.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <boost/asio/basic_waitable_timer.hpp>
#include <sys/types.h>

#include "agent/devices/device_use.h"
#include "agent/dump/tool_processes.h"
#include "agent/parts/agent_state.h"
#include "spawn/start/watched_fd.h"

namespace muster {

// Processor time and resident memory of processes with their descendants, from one pass over /proc (proc(5)).
//
// Uses only files that the kernel serves without waiting for the process. Cgroups are not used: the processes of a run
// have one in common, and memory.current counts the files that they read.

// A row of the kernel's table of processes.
struct KernelUsage {
  pid_t pid = 0;
  pid_t parent = 0;
  pid_t group = 0;
  std::uint64_t cpu_ticks = 0;  // its own, and those of the children that it has waited for
  std::uint64_t rss_pages = 0;

  bool operator==(const KernelUsage&) const = default;
};

// All processes that this one can see.
std::vector<KernelUsage> ReadKernelUsage();

struct TreeUsage {
  std::uint64_t cpu_ticks = 0;
  std::uint64_t rss_pages = 0;

  bool operator==(const TreeUsage&) const = default;
};

// The sums for each of these roots: a process counts for the nearest root above it, else, after its parents have
// exited, for the root whose process group it is in. Roots that are not in the table have no entry.
std::map<pid_t, TreeUsage> UsageOfTrees(const std::vector<KernelUsage>& processes, const std::vector<pid_t>& roots);

// Samples of what the running processes use, sent to the head at intervals that grow with the time since the first
// start: nothing is read before the first interval has elapsed, so short runs are not sampled.
//
// Handles the times and the vendor's tool; agent/usage/ reads. The tool is a child process with a time limit, never
// more than one at a time, and only if a running process has devices. It is not run again after it could not be started
// or has failed several times in a row.

// The interval after that time since the first start: at most 120 samples as long as it is shorter than a minute.
std::chrono::milliseconds UsageInterval(std::chrono::milliseconds first, std::chrono::milliseconds elapsed);

class UsageSamples : public AgentPart {
 public:
  using Key = std::pair<ProcessId, std::uint32_t>;

  // `state` must outlive this object.
  explicit UsageSamples(AgentState& state);

  // Samples processes that start from now on; not with an interval of 0.
  void Begin(std::uint64_t interval_ms, std::string device_kind);
  // `started` has the pid in the agent's own namespace.
  void Started(const ProcessStarted& started, std::vector<std::string> devices, const std::string& search_path);
  void Ended(const Key& key);

  bool Owns(pid_t pid) const override { return tools_.Owns(pid); }
  bool ChildEnded(pid_t pid) override { return tools_.Ended(pid); }
  bool empty() const override { return tools_.empty(); }
  std::size_t descriptors() const override { return kDescriptorsPerChild * tools_.size(); }
  void Finish() override;
  void Abandon() override;

 private:
  using Clock = std::chrono::steady_clock;
  using Timer = boost::asio::basic_waitable_timer<Clock, boost::asio::wait_traits<Clock>, LoopExecutor>;

  struct Watched {
    pid_t pid = 0;
    Clock::time_point started;
    std::vector<std::string> devices;
    std::string search_path;
  };

  std::chrono::milliseconds Interval() const;
  void SetTimer();
  void Sample();
  // Starts the tool for the memory of devices; false if it is not needed or cannot be run.
  bool AskTool();
  void OnToolExited(const ToolProcesses::Exit& exit);
  void Send();

  AgentState& state_;
  Timer next_;
  Timer tool_limit_;
  DumpNotes notes_;
  ToolProcesses tools_;
  std::map<Key, Watched> watched_;
  std::chrono::milliseconds interval_{0};
  std::optional<Clock::time_point> began_;
  std::string device_kind_;
  std::vector<std::string> command_;     // the tool; empty: none
  std::optional<std::uint32_t> asking_;  // the tool whose answer the sample waits for
  int failures_ = 0;                     // in a row
  DeviceMemory memory_;                  // its last answer
};

}  // namespace muster
