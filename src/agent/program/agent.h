// The agent: executes the head's commands on one host, and ensures that no process that it started outlives it or the
// head: with the kernel mechanisms that keep track of its processes, and with heartbeats that show in time that the
// head may be lost. Handles the protocol with one part per subject (agent/parts/); independent of plans and policy.
// One thread, one event loop.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include <boost/asio/basic_waitable_timer.hpp>
#include <boost/asio/io_context.hpp>

#include "agent/host/disk_filler.h"
#include "agent/parts/agent_state.h"
#include "agent/parts/host_preparation.h"
#include "agent/parts/process_logs.h"
#include "agent/parts/readiness.h"
#include "agent/parts/running_processes.h"
#include "agent/parts/usage_samples.h"
#include "agent/processes/given_ports.h"
#include "agent/processes/pty_set.h"
#include "agent/program/agent_guard.h"
#include "agent/program/sub_agents.h"
#include "base/system/own_process.h"
#include "spawn/leftovers/confinement.h"
#include "spawn/start/watched_fd.h"
#include "wire/connection/lease.h"
#include "wire/connection/wire.h"
#include "wire/protocol/protocol.h"

namespace muster {

// The kernel mechanisms that keep track of all processes of an agent: its PID namespace, its cgroup and its guard.
//
// Independent of particular processes.
class Containment {
 public:
  // `state` must outlive this object.
  explicit Containment(AgentState& state) : state_(state) {}

  void NoteTermination() const { guard_.NoteTermination(); }
  bool GuardIsGone() const { return guard_.IsGone(); }
  void WakeGuard() const { guard_.Wake(); }
  void BeGuardedBy(const AgentGuard& guard) { guard_ = guard; }

  // Creates the cgroup; appends the mechanisms to `ready`, whose `pid` is set. True if Enter() must be called.
  bool Begin(const Hello& hello, AgentReady& ready);
  // Moves the agent into its cgroup, which waits for the kernel.
  void Enter();
  // Kills all processes in the cgroup, if there is one.
  void Kill();
  // Leaves the cgroup and removes it if it is empty.
  void Leave() { cgroup_.reset(); }

 private:
  AgentState& state_;
  AgentGuard guard_;
  std::optional<Cgroup> cgroup_;
};

// Sends the heartbeats of an agent whose head is on another host, and reports when the head may have considered the
// agent lost, so that all processes must be killed (wire/lease/lease.h).
//
// Uses the loop's time; the agent decides what to do.
class HeartbeatSender {
 public:
  struct Ends {
    std::function<void(const AgentHeartbeat&)> send;
    std::function<void(const std::string& why)> unheard;  // called once
  };
  HeartbeatSender(boost::asio::io_context& io, Ends ends)
      : ends_(std::move(ends)), next_(io.get_executor()), end_(io.get_executor()) {}

  void Begin(std::uint64_t lease_ms);
  bool going() const { return lease_.has_value(); }
  void Answered(std::uint32_t number);
  void End();

 private:
  using Timer = boost::asio::basic_waitable_timer<std::chrono::steady_clock,
                                                  boost::asio::wait_traits<std::chrono::steady_clock>, LoopExecutor>;

  void Send();
  // Whether this process did not run for a while (wire/lease/lease.h): the lease has begun again.
  bool NoticePause();
  void AwaitEnd();
  void EndUnlessAnswered();

  Ends ends_;
  Timer next_;
  Timer end_;
  std::uint64_t lease_ms_ = 0;
  std::optional<AgentLease> lease_;
  AgentHeartbeat latest_;
  std::uint64_t next_at_ = 0;  // when the next heartbeat is to be sent
};

// The agent: executes the head's commands on one host, and ensures that no process that it started outlives the head or
// the agent.
//
// Handles the protocol with one part per subject (agent/parts/); independent of plans and policy. It has one thread and
// one event loop. It ends when the head sends Finish, when the head is lost, when it gets SIGTERM, or when it receives
// an invalid message; in every case each process that it started, and each orphan of those, has been killed and reaped
// before Run() returns.
//
// For a sweep there is a standing agent: it starts sub-agents, one per run (sub_agents.h), and no other processes.

// Results of Run(), and exit codes of muster-agent.
inline constexpr int kAgentFinished = 0;
inline constexpr int kAgentFailed = 1;    // an invalid command, or processes that cannot be killed
inline constexpr int kAgentLostHead = 3;  // the connection closed without Finish, or SIGTERM

class Agent {
 public:
  // The process must be a subreaper, have SIGCHLD and SIGTERM blocked in its only thread and SIGPIPE ignored, and
  // outlive this object. With a `space` it is the init of that namespace, and the pids that it reports are outer ones.
  Agent(boost::asio::io_context& io, std::shared_ptr<Wire> wire, AgentProcess& process,
        std::optional<PidNamespace> space = {});
  ~Agent();
  Agent(const Agent&) = delete;
  Agent& operator=(const Agent&) = delete;

  // Makes it a sub-agent (sub_agents.h) with descriptors up to `descriptors` only: it does not determine facts that
  // follow from that or that the standing agent has reported, and sends no magic. Must be called before Run().
  void SetOwnDescriptors(std::uint32_t descriptors) { below_ = descriptors; }

  // By which its host was reached, instead of what sshd says of its connection; may be empty. Before Run().
  void SetAddress(std::string address) { address_ = std::move(address); }

  // An engine started it, whose SIGTERM announces an end (docs/supervision.md): while its head answers, it reports the
  // signal and goes on. Before Run().
  void ReportTermination() { reports_termination_ = true; }

  // Its guard, if there is one; before Run().
  void BeGuardedBy(const AgentGuard& guard) { containment_.BeGuardedBy(guard); }

  int Run();
  // The same for an agent that cannot work: it only reports the reason to its head.
  int Refuse(const std::string& why);

 private:
  using Timer = boost::asio::basic_waitable_timer<std::chrono::steady_clock,
                                                  boost::asio::wait_traits<std::chrono::steady_clock>, LoopExecutor>;
  using Phase = AgentState::Phase;

  bool WatchSignals();
  void AwaitSignals();
  void OnSignals();
  // Whether the head decides what SIGTERM means.
  bool HeadDecides() const;

  void OnFrame(const std::string& payload);
  // Passes the command to the part that executes it.
  void Execute(AgentCommand& command);
  // Commands about the agent itself; return a protocol error if the head must not send the command now, else empty.
  std::string Do(const Hello& command);
  std::string Do(const Finish& command);
  std::string Do(const FilesStored& answer);
  void Do(const HeadHeartbeat& heartbeat);

  SelfCount Count() const { return below_ ? SelfCount{*below_, 0} : CountSelf(); }
  void AwaitEnds();
  void FinishIfEmpty();
  void Attest();
  void Fail(const std::string& why);
  // Kills all processes and stops the loop; before that `last`, if any, is sent.
  void EndAtOnce(int exit_code, const AgentMessage* last);

  std::shared_ptr<Wire> wire_;
  AgentState state_;
  HeartbeatSender heartbeats_;
  Containment containment_;
  Orphans orphans_;
  GivenPorts ports_;
  PtySet terminals_;
  ProcessDumps dumps_;
  UsageSamples usage_;
  HostPreparation preparation_;
  Readiness readiness_;
  ProcessLogs logs_;
  RunningProcesses processes_;
  SubAgents subs_;
  DiskFiller filler_;
  WatchedFd signals_;
  Timer patience_;

  std::optional<std::string> address_;
  std::string refusal_;  // why it does nothing
  std::optional<std::uint32_t> below_;
  bool greeted_ = false;
  bool reports_termination_ = false;
  bool termination_reported_ = false;
  bool of_run_ = false;  // of one run: its head has given it a run directory
  bool sending_files_ = false;
  bool files_sent_ = false;
  bool files_kept_ = false;  // the head has stored the files
  int exit_code_ = kAgentLostHead;
};

}  // namespace muster
