// Samples of what the running processes use, sent to the head at intervals that grow with the time since the first
// start: nothing is read before the first interval has elapsed, so short runs are not sampled.
//
// Handles the times and the vendor's tool; agent/usage/ reads. The tool is a child process with a time limit, never
// more than one at a time, and only if a running process has devices. It is not run again after it could not be started
// or has failed several times in a row.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <boost/asio/basic_waitable_timer.hpp>

#include "agent/dump/dump_notes.h"
#include "agent/dump/tool_processes.h"
#include "agent/parts/agent_part.h"
#include "agent/parts/agent_state.h"
#include "agent/usage/device_memory.h"
#include "spawn/start/watched_fd.h"

namespace muster {

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
