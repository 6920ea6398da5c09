// An active run: the implementation of run/session/run_request.h as one object. It passes events to the supervisor and
// performs its decisions; each subject has its own part in a file of this folder.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>

#include "base/system/unique_fd.h"
#include "muster/binding.h"
#include "run/directory/runtime_directory.h"
#include "run/session/agent_links.h"
#include "run/session/code_delivery.h"
#include "run/session/device_queue.h"
#include "run/session/engine_inquiry.h"
#include "run/session/failed_hosts.h"
#include "run/session/files_elsewhere.h"
#include "run/session/git_question.h"
#include "run/session/host_preflight.h"
#include "run/session/host_setup.h"
#include "run/session/lent_terminal.h"
#include "run/session/live_run.h"
#include "run/session/port_replacement.h"
#include "run/session/process_orders.h"
#include "run/session/run_binding.h"
#include "run/session/run_checkpoints.h"
#include "run/session/run_control.h"
#include "run/session/run_notices.h"
#include "run/session/run_request.h"
#include "run/session/usage_record.h"
#include "run/supervise/run_process_table.h"
#include "run/supervise/supervisor.h"
#include "run/supervise/timer_queue.h"

namespace muster {

// The loop may be shared: handlers that are still queued when the session is destroyed do nothing.
class Session final : public std::enable_shared_from_this<Session>, private RunEvents {
 public:
  using Ended = std::function<void(RunOutcome)>;

  // `io` and `transport` must outlive it. `ended` is called from the loop, once, as the last action; it may destroy the
  // session.
  Session(boost::asio::io_context& io, std::shared_ptr<const RunRequest> request, Transport& transport, Ended ended);
  ~Session();

  // Performs all steps before the first return to the loop. If one fails, nothing has been started, and `ended` is
  // never called.
  Result<void> Begin();
  // Like `muster stop`.
  void Stop(bool now) { control_.Stop(now, false); }
  // Creates the control socket now if it would be created after a delay.
  void ListenNow() { control_.ListenNow(); }

 private:
  Result<void> Open();
  void HandleEvent(const Event& event) override;
  using RunEvents::Abandon;
  void Abandon(const std::string& why, const std::vector<std::string>& hints) override;
  void BeginIfReady() override;

  // Reports that every ordered start has succeeded, once.
  void ReportBegun();
  // Watches whether the path still leads to the run directory.
  void WatchPlace();
  void AwaitPlace();
  // Whether it does; otherwise it is reported once.
  bool CheckPlace();

  Progress ShownProgress() const;
  void WarnOfOpenWay();
  void Greet();

  void OnMessage(std::uint32_t host, ChannelMessage message);
  void OnReady(std::uint32_t host, const AgentReady& ready);
  void OnRefused(std::uint32_t host, AgentUnreachable why);
  void OnEmpty(std::uint32_t host, AgentEmpty empty);
  void OnLost(std::uint32_t host, AgentLost lost);
  void OnSpawnFailed(std::uint32_t host, SpawnFailed failed);
  void OnStray(std::uint32_t host, const StrayMessage& stray);
  void OnFileBytes(std::uint32_t host, const FileBytes& bytes);

  void Perform(const std::vector<Action>& actions);
  void Perform(const Action& action);
  // Sent to all agents.
  void OrderFinish();
  // Handles hosts without an agent after the end was ordered: no more messages come from them.
  void HandleRefused();
  void SetAlarm();
  void OnAlarm();
  void End();
  void CorrectOrigin();
  std::string EndText(const RunEnded& ended);

  const std::shared_ptr<const RunRequest> request_;
  Transport& transport_;
  const Ended on_ended_;
  Supervisor supervisor_;
  Binding binding_;
  LiveRun run_;
  UniqueFd logs_;
  LiveHead announced_;  // not set for a trial: its sweep's head is announced
  RunProcessTable process_table_;
  TimerQueue timers_;
  AgentLinks links_;
  FilesElsewhere files_;
  FailedHosts failed_;
  RunBinding bound_;
  CodeDelivery code_;
  DeviceQueue devices_;
  std::vector<HostSetup> setups_;
  HostPreflight preflight_;
  PortReplacement rebinding_;
  RunCheckpoints checkpoints_;
  LentTerminal terminal_;
  UsageRecord usage_;
  ProcessOrders orders_;
  GitQuestion git_;
  EngineInquiry engine_;
  RunNotices notices_;
  RunControl control_;
  std::set<std::uint32_t> strays_shown_;  // host indices
  bool begun_reported_ = false;
  boost::asio::posix::stream_descriptor place_;  // inotify(7)
  std::string displaced_;                        // what was lost with the run directory; empty while it is in its place
  RunOutcome outcome_;
};

}  // namespace muster
