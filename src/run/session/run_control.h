// What is asked of a run while it goes on: by signals, on its control socket, and by keys at the user's terminal.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include <boost/asio/signal_set.hpp>
#include <boost/asio/steady_timer.hpp>
#include <tl/expected.hpp>

#include "run/control/control_protocol.h"

namespace muster {

class AgentLinks;
class ControlServer;
class DeviceQueue;
class GitQuestion;
struct LiveRun;

class RunControl {
 public:
  using Processes = std::function<ProcessStatuses()>;

  // `processes` answers requests for the state of all processes.
  RunControl(LiveRun& run, AgentLinks& links, GitQuestion& git, const DeviceQueue& devices, Processes processes);
  ~RunControl();

  // As RunRequest::catch_signals asks for it.
  void CatchSignals();
  // Makes the control socket: at once, or where a run may be over sooner than anybody can ask for it, after a while.
  void Listen();
  // Not later than now.
  void ListenNow();

  // As `muster stop` does: whether that changed anything.
  bool Stop(bool now, bool dump);
  // The user asked for the end once more, by keys.
  void StopByKeys();

 private:
  void AwaitSignal();
  void MakeSocket();
  // An end was asked for: `times` as in StopRequested, `signal` 0 if a command asked.
  void RequestStop(std::uint32_t times, int signal, bool dump = false);
  tl::expected<std::uint32_t, std::string> Dump();
  RunStatus Status() const;

  LiveRun& run_;
  AgentLinks& links_;
  GitQuestion& git_;
  const DeviceQueue& devices_;
  const Processes processes_;
  boost::asio::signal_set signals_;
  std::optional<boost::asio::steady_timer> listening_;  // not yet
  std::unique_ptr<ControlServer> control_;
  std::uint32_t stops_asked_ = 0;
};

}  // namespace muster
