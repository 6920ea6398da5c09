// Determines the properties of this host for the head: one child process of muster-agent inspects files, and each
// Python interpreter is queried for its packages.
//
// Handles processes, the clock and the output of Python; independent of policy. Nothing here blocks the loop: work that
// may wait for a file system or runs the user's code is done by a process with a deadline, and missing results are
// reported as missing.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>

#include <boost/asio/basic_waitable_timer.hpp>
#include <boost/asio/io_context.hpp>

#include "agent/processes/child_set.h"
#include "base/system/unique_fd.h"
#include "spawn/start/launcher.h"
#include "wire/protocol/inspection_messages.h"

namespace muster {

// Parses the standard output of a Python, which may contain other text; sets `error` if it is incomplete.
PythonFact ParsePythonOutput(const std::string& program, std::string_view bytes);

// The child process: reads the frame of one Inspect, and writes an Inspected with the facts available at once, then one
// with all facts that require no further process. False if it reads another message.
bool InspectHost(int in, int out, const std::string& version);

class HostInspection {
 public:
  static constexpr std::size_t kMostOutputBytes = 1U << 20;  // of each process

  struct Observer {
    std::function<void(const Inspected&)> done;  // called once for each Begin, unless Kill() was called before
    std::function<void()> idle;                  // called when none of its processes is running any more
  };

  // `agent`: path of muster-agent.
  HostInspection(boost::asio::io_context& io, Launcher& launcher, std::string agent, Observer observer);
  HostInspection(const HostInspection&) = delete;
  HostInspection& operator=(const HostInspection&) = delete;

  // Must not be called while going(). The variables of `command` are valid; `descriptors` is the limit for processes.
  void Begin(Inspect command, const ResourceLimit& descriptors);
  bool going() const { return going_ || !commands_.empty(); }
  // Kills its processes; nothing is reported any more.
  void Kill();

  // For its processes, as in ChildSet.
  bool Owns(pid_t pid) const { return commands_.Owns(pid); }
  bool Ended(pid_t pid) { return commands_.Ended(pid); }
  bool empty() const { return commands_.empty(); }
  // Forgets them, to be killed by other means.
  void Abandon();

 private:
  using Timer = boost::asio::basic_waitable_timer<std::chrono::steady_clock,
                                                  boost::asio::wait_traits<std::chrono::steady_clock>, LoopExecutor>;

  // Process numbers: 0 inspects files, n queries Python n - 1, and the next one looks up the host's name.
  std::uint32_t NameNumber() const { return static_cast<std::uint32_t>(command_.pythons.size()) + 1; }
  tl::expected<void, SpawnError> Start(std::uint32_t number, const ResourceLimit& descriptors);
  void OnExited(const ProcessExited& event);
  void ReportSoon();
  void Report();

  boost::asio::io_context& io_;
  Observer observer_;
  std::string agent_;
  ChildSet commands_;
  Timer deadline_;
  bool going_ = false;
  Inspect command_;
  std::uint64_t asked_at_ = 0;
  std::map<std::uint32_t, UniqueFd> accounts_;
  std::map<std::uint32_t, std::string> failures_;  // of processes that could not be started or failed
};

}  // namespace muster
