// Asks who uses the devices of this host, whoever started them: the kernel for open device files, and the vendor's
// tool, which knows the processes of other users without root.
//
// Handles the times and the tool: a child process with a time limit, of which a single call is made at a time. Without
// the tool, and without its answer in time, the open files alone count.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <boost/asio/basic_waitable_timer.hpp>

#include "agent/devices/resource_allocation.h"
#include "agent/dump/dump_notes.h"
#include "agent/dump/tool_processes.h"
#include "agent/parts/agent_state.h"
#include "spawn/start/watched_fd.h"

namespace muster {

class DeviceInquiry {
 public:
  using Done = std::function<void(DeviceUserTexts)>;

  // `state` must outlive this object.
  explicit DeviceInquiry(AgentState& state);

  // `done` is called once, directly or from the loop, unless Kill() or Abandon() is called before. Not within another
  // question.
  void Ask(const std::string& kind, Done done);
  void Kill();

  // For the tool, as in ChildSet.
  bool Owns(pid_t pid) const { return tools_.Owns(pid); }
  bool Ended(pid_t pid) { return tools_.Ended(pid); }
  bool empty() const { return tools_.empty(); }
  void Abandon();

 private:
  using Timer = boost::asio::basic_waitable_timer<std::chrono::steady_clock,
                                                  boost::asio::wait_traits<std::chrono::steady_clock>, LoopExecutor>;

  void OnExited(const ToolProcesses::Exit& exit);
  void Answer();

  AgentState& state_;
  Timer limit_;
  DumpNotes notes_;
  ToolProcesses tools_;
  std::string kind_;
  std::map<std::uint32_t, std::size_t> asked_;  // running calls of the tool, by their numbers
  std::vector<std::string> outputs_;            // of the calls
  bool complete_ = false;                       // all of them have answered so far
  Done done_;
};

}  // namespace muster
