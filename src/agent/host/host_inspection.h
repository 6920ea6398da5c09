// Finding out what this host is like, for a head that asks: one command of the agent's own that looks at files, and
// each Python that is asked for its packages.
//
// Knows processes, the clock and what Pythons are asked; knows no policy. Nothing here can hold up the loop: what may
// wait for a file system or runs the user's own code is a process with a deadline, and what it has not told by then is
// told to be missing.
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

// What a Python has said on its standard output, other words between ours; `error` if it has not said all.
PythonFact ParsePythonOutput(const std::string& program, std::string_view bytes);

// The command: reads the frame of one Inspect, and writes that of an Inspected with what is known at once and then one
// with everything that can be seen without starting anything. False if it was asked something else.
bool InspectHost(int in, int out, const std::string& version);

class HostInspection {
 public:
  static constexpr std::size_t kMostOutputBytes = 1U << 20;  // of each process

  struct Observer {
    std::function<void(const Inspected&)> done;  // once for each Begin, unless there is a Kill() before
    std::function<void()> idle;                  // none of its processes runs any more
  };

  // `agent`: path of muster-agent.
  HostInspection(boost::asio::io_context& io, Launcher& launcher, std::string agent, Observer observer);
  HostInspection(const HostInspection&) = delete;
  HostInspection& operator=(const HostInspection&) = delete;

  // Not while going(). The variables of `command` are sound; `descriptors` is the limit that processes of a run get.
  void Begin(Inspect command, const ResourceLimit& descriptors);
  bool going() const { return going_ || !commands_.empty(); }
  // Ends its processes; nothing is told any more.
  void Kill();

  // Of its processes, as in ChildSet.
  bool Owns(pid_t pid) const { return commands_.Owns(pid); }
  bool Ended(pid_t pid) { return commands_.Ended(pid); }
  bool empty() const { return commands_.empty(); }
  // Forgets them, to be ended by other means.
  void Abandon();

 private:
  using Timer = boost::asio::basic_waitable_timer<std::chrono::steady_clock,
                                                  boost::asio::wait_traits<std::chrono::steady_clock>, LoopExecutor>;

  // By number: 0 looks around, n asks the Python n - 1, and the one after these looks up the host's name.
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
  std::map<std::uint32_t, std::string> failures_;  // of those that did not begin, or did not end well
};

}  // namespace muster
