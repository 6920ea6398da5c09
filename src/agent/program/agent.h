// The agent: executes on one host what the head sends over a wire, and ensures that nothing it started outlives either
// of them.
//
// Knows the protocol and its parts (agent/parts/), one for each subject of the protocol; knows no plan and no policy.
// It lives in one thread and one loop. It is over when the head says Finish, when the head is lost, when it gets
// SIGTERM, or when it is sent something it does not understand; in every case each process it started, and each orphan
// of those, has been killed and reaped before Run() returns.
//
// For a sweep it stands: it starts agents below itself, one per run (sub_agents.h), and nothing else.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include <boost/asio/io_context.hpp>

#include "agent/parts/agent_process.h"
#include "agent/parts/agent_state.h"
#include "agent/parts/host_preparation.h"
#include "agent/parts/orphans.h"
#include "agent/parts/process_dumps.h"
#include "agent/parts/process_logs.h"
#include "agent/parts/readiness.h"
#include "agent/parts/running_processes.h"
#include "agent/processes/given_ports.h"
#include "agent/processes/pty_set.h"
#include "agent/program/agent_guard.h"
#include "agent/program/containment.h"
#include "agent/program/heartbeat_sender.h"
#include "agent/program/sub_agents.h"
#include "base/system/self_count.h"
#include "spawn/guard/pid_namespace.h"
#include "wire/connection/wire.h"
#include "wire/protocol/protocol.h"

namespace muster {

// What Run() returns and muster-agent exits with.
inline constexpr int kAgentFinished = 0;
inline constexpr int kAgentFailed = 1;    // a command it refuses, or processes that cannot be ended
inline constexpr int kAgentLostHead = 3;  // the connection ended without Finish, or SIGTERM

class Agent {
 public:
  // The process must be a subreaper, have SIGCHLD and SIGTERM blocked in its only thread and SIGPIPE ignored, and
  // outlive this. With a `space` it is the init of that namespace, and the pids that it reports are those outside.
  Agent(boost::asio::io_context& io, std::shared_ptr<Wire> wire, AgentProcess& process,
        std::optional<PidNamespace> space = {});
  ~Agent();
  Agent(const Agent&) = delete;
  Agent& operator=(const Agent&) = delete;

  // It is below another agent (sub_agents.h), with descriptors up to `descriptors` and no more: what can be known from
  // that, or be asked of the other, it does not look for, and it begins without the magic. Before Run().
  void SetOwnDescriptors(std::uint32_t descriptors) { below_ = descriptors; }

  // By which its host was reached, instead of what sshd says of its connection; may be empty. Before Run().
  void SetAddress(std::string address) { address_ = std::move(address); }

  // Its guard, if there is one; before Run().
  void BeGuardedBy(const AgentGuard& guard) { containment_.BeGuardedBy(guard); }

  int Run();
  // The same for an agent that cannot do its work: all it does is to report why to its head.
  int Refuse(const std::string& why);

 private:
  using Timer = boost::asio::basic_waitable_timer<std::chrono::steady_clock,
                                                  boost::asio::wait_traits<std::chrono::steady_clock>, LoopExecutor>;
  using Phase = AgentState::Phase;

  bool WatchSignals();
  void AwaitSignals();
  void OnSignals();

  void OnFrame(const std::string& payload);
  // Passes the command to the part that executes it.
  void Execute(AgentCommand& command);
  // What is about the agent itself; empty, or why a head must not send that now.
  std::string Do(const Hello& command);
  std::string Do(const Finish& command);
  std::string Do(const FilesStored& answer);
  void Do(const HeadHeartbeat& beat);

  SelfCount Count() const { return below_ ? SelfCount{*below_, 0} : CountSelf(); }
  void AwaitEnds();
  void FinishIfEmpty();
  void Attest();
  void Fail(const std::string& why);
  // Ends everything at once and the loop with it; the wire gets `last`, if any, before that.
  void EndAtOnce(int exit_code, const AgentMessage* last);

  std::shared_ptr<Wire> wire_;
  AgentState state_;
  HeartbeatSender beats_;
  Containment containment_;
  Orphans orphans_;
  GivenPorts ports_;
  PtySet terminals_;
  ProcessDumps dumps_;
  HostPreparation preparation_;
  Readiness readiness_;
  ProcessLogs logs_;
  RunningProcesses processes_;
  SubAgents subs_;
  WatchedFd signals_;
  Timer patience_;

  std::optional<std::string> address_;
  std::string refusal_;  // why it does nothing
  std::optional<std::uint32_t> below_;
  bool greeted_ = false;
  bool sending_files_ = false;
  bool files_sent_ = false;
  bool files_kept_ = false;  // by the head
  int exit_code_ = kAgentLostHead;
};

}  // namespace muster
