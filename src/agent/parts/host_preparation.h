// Preparations on the host before the first start: its activation and inspection, network paths to other hosts,
// shipped code, and devices and cores for the job, with the question who else uses the devices. Checks when each
// command is allowed.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <boost/asio/basic_waitable_timer.hpp>
#include <boost/asio/io_context.hpp>

#include "agent/devices/resource_allocation.h"
#include "agent/dump/tool_processes.h"
#include "agent/host/code_cache.h"
#include "agent/host/host_activation.h"
#include "agent/host/host_inspection.h"
#include "agent/parts/agent_state.h"
#include "base/system/unique_fd.h"
#include "spawn/start/watched_fd.h"
#include "wire/protocol/protocol.h"

namespace muster {

// Tests whether other hosts can be reached, before a job depends on it: sockets that listen temporarily, and
// connections that are closed as soon as they are established.
//
// Handles sockets and the clock; the head decides which hosts are tested and what a failure means. Connections are
// never accepted: the answer of the kernel is sufficient.
class PathProbe {
 public:
  using Done = std::function<void(const PathsProbed&)>;
  static constexpr std::size_t kMaxTargets = kMaxPathTargets;

  explicit PathProbe(boost::asio::io_context& io);
  PathProbe(const PathProbe&) = delete;
  PathProbe& operator=(const PathProbe&) = delete;
  ~PathProbe();

  // Earlier sockets stop listening.
  PathsOpen Open(const OpenPaths& command);
  // `done` is called from the loop, unless Close() is called before.
  void Try(const ProbePaths& command, Done done);
  bool trying() const { return static_cast<bool>(done_); }
  // Stops listening, and cancels running tests.
  void Close();

 private:
  using Timer = boost::asio::basic_waitable_timer<std::chrono::steady_clock,
                                                  boost::asio::wait_traits<std::chrono::steady_clock>, LoopExecutor>;

  void Begin(std::size_t target, const PathTarget& to);
  void Ended(std::size_t target, int error);
  void Report();

  boost::asio::io_context& io_;
  Timer deadline_;
  std::vector<UniqueFd> listening_;
  std::vector<std::unique_ptr<WatchedFd>> going_;  // by target; empty: finished
  std::size_t left_ = 0;
  PathsProbed reported_;
  Done done_;
  std::uint64_t round_ = 0;  // of Try(): late results of an earlier round are ignored
};

// Asks who uses the devices of this host, whoever started them: the kernel for open device files, and the vendor's
// tool, which knows the processes of other users without root.
//
// Handles the times and the tool: a child process with a time limit, of which a single call is made at a time. Without
// the tool, and without its answer in time, the open files alone count.
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

// Preparations on the host before the first start: the host's activation and inspection, network paths to other hosts,
// shipped code, and devices and cores for the job.
//
// Checks when each command is allowed; agent/host/, agent/code/ and agent/devices/ execute them.
class HostPreparation : public AgentPart {
 public:
  // `state` must outlive this object.
  explicit HostPreparation(AgentState& state);

  // Return a protocol error if the head must not send the command now, else an empty text.
  std::string Do(const Activate& command);
  std::string Do(Inspect& command);
  std::string Do(const AllocateResources& command);
  std::string Do(const OpenPaths& command);
  std::string Do(const ProbePaths& command);
  std::string Do(const ClosePaths& command);
  std::string Do(OfferCode& command);
  std::string Do(const CodeBytes& bytes);

  // Releases the devices; called when the last process has been reaped.
  void GiveUpDevices() { allotment_.GiveUp(); }

  bool Owns(pid_t pid) const override {
    return activation_.Owns(pid) || inspection_.Owns(pid) || device_users_.Owns(pid);
  }
  bool ChildEnded(pid_t pid) override {
    return activation_.Ended(pid) || inspection_.Ended(pid) || device_users_.Ended(pid);
  }
  bool empty() const override { return activation_.empty() && inspection_.empty() && device_users_.empty(); }
  std::size_t descriptors() const override { return allotment_.held(); }
  void Finish() override;
  void Abandon() override;

 private:
  AgentState& state_;
  HostActivation activation_;
  HostInspection inspection_;
  PathProbe paths_;
  CodeCache code_;
  DeviceInquiry device_users_;
  ResourceAllocation allotment_;
  bool allotted_ = false;
};

}  // namespace muster
