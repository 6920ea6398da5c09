// Handles requests to an active run: by signals, on its control socket, and by keys at the user's terminal.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>

#include <boost/asio/signal_set.hpp>
#include <boost/asio/steady_timer.hpp>
#include <tl/expected.hpp>

#include "run/control/control_protocol.h"

namespace muster {

class AgentLinks;
class ControlServer;
class DeviceQueue;
class EngineInquiry;
class GitQuestion;
class RunFaults;
class RunNotices;
struct LiveRun;

class RunControl {
 public:
  using Processes = std::function<ProcessStatuses()>;

  // `processes` returns the state of all processes for requests.
  RunControl(LiveRun& run, AgentLinks& links, GitQuestion& git, EngineInquiry& engine, RunNotices& notices,
             const DeviceQueue& devices, RunFaults& faults, Processes processes);
  ~RunControl();

  // According to RunRequest::catch_signals.
  void CatchSignals();
  // Creates the control socket: at once, or after a delay for a run that may be over before anyone could connect.
  void Listen();
  // Creates it now if it does not exist yet.
  void ListenNow();

  // Like `muster stop`; returns whether that changed anything.
  bool Stop(bool now, bool dump);
  // The user requested the end again, by keys.
  void StopByKeys();
  // The engine has sent SIGTERM to the agent of this machine, which goes on. Once all agents have had it, or the engine
  // says that the job ends, the run stops as by SIGTERM.
  void AgentSignalled(std::uint32_t host);
  // Whether the run was stopped because of that.
  bool stopped_for_agents() const { return stopped_for_agents_; }

 private:
  void AwaitSignal();
  void MakeSocket();
  // An end was requested: `times` as in StopRequested, `signal` 0 for a request by a command.
  void RequestStop(std::uint32_t times, int signal, bool dump = false, const std::string& why = {});
  void Announced();
  void Warned();  // by RunRequest::warning_signal
  tl::expected<std::uint32_t, std::string> Dump();
  RunStatus Status() const;

  LiveRun& run_;
  AgentLinks& links_;
  GitQuestion& git_;
  EngineInquiry& engine_;
  RunNotices& notices_;
  const DeviceQueue& devices_;
  RunFaults& faults_;
  const Processes processes_;
  boost::asio::signal_set signals_;
  std::set<std::uint32_t> signalled_;  // machines whose agent has had SIGTERM
  bool stopped_for_agents_ = false;
  bool own_signal_follows_ = false;                     // of that end this process has had none yet
  bool announced_ = false;                              // by RunRequest::notice_signal
  std::optional<boost::asio::steady_timer> listening_;  // while the socket is not created yet
  std::unique_ptr<ControlServer> control_;
  std::uint32_t stops_asked_ = 0;
};

}  // namespace muster
