// The processes of the plan on this host: starts them with their environment, log, ports and terminal, has them
// dumped, stops them, reports their exits, and kills the orphans that an attempt left behind. Defines the steps of a
// start and of an exit, and their order.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <boost/asio/basic_waitable_timer.hpp>
#include <sys/types.h>
#include <tl/expected.hpp>

#include "agent/dump/dump_taker.h"
#include "agent/parts/agent_state.h"
#include "agent/parts/process_logs.h"
#include "agent/parts/readiness.h"
#include "agent/parts/usage_samples.h"
#include "agent/processes/child_set.h"
#include "agent/processes/exit_inspector.h"
#include "agent/processes/given_ports.h"
#include "agent/processes/pty_set.h"
#include "base/system/file_access.h"
#include "muster/event.h"
#include "spawn/leftovers/leftovers.h"
#include "spawn/start/watched_fd.h"

namespace muster {

// What an agent stores about a running process of the plan.

struct RunningProcess {
  pid_t pid = 0;  // in the agent's own PID namespace
  std::string log_path;
  FileBelow log;
  std::string mark;                 // "MUSTER_PROCESS=…", or empty
  std::string search_path;          // its PATH
  std::vector<std::string> remove;  // StartProcess::remove
  bool signalled = false;           // by this agent
};

// By process and attempt.
using RunningProcessTable = std::map<std::pair<ProcessId, std::uint32_t>, RunningProcess>;

// Orphans: children of this process that none of its parts started, because their own parents have exited. They are
// reaped, and those that an attempt of a process left behind are killed.
//
// Handles pids and marks; the parts report which children they own.
class Orphans {
 public:
  // Time for SIGKILL to take effect.
  static constexpr std::chrono::seconds kKillPatience{5};

  // `state` must outlive this object.
  explicit Orphans(AgentState& state) : state_(state), marked_(state.io.get_executor()) {}

  // Reaps exited children, from the loop. Call it after SIGCHLD and after each exit.
  void ReapSoon();

  // An attempt whose processes carry this variable ("MUSTER_PROCESS=…") has exited: kills the remaining ones after a
  // short time, together with those of other attempts.
  void EndSoon(const std::string& mark);
  // The same now, for all attempts so far. Blocks.
  void EndMarked();
  // Cancels delayed kills.
  void StopTimer() { marked_.cancel(); }

  // Kills and reaps orphans that descend from children of the parts. Blocks.
  KillReport EndAll();
  // The same for all descendants of this process.
  KillReport EndDescendants();

 private:
  using Timer = boost::asio::basic_waitable_timer<std::chrono::steady_clock,
                                                  boost::asio::wait_traits<std::chrono::steady_clock>, LoopExecutor>;

  AgentPart* OwnerOf(pid_t pid) const;
  void Reap();
  // Counts what was killed; `means` is its name in AgentEmpty.
  KillReport Counted(KillReport report, const char* means);

  AgentState& state_;
  Timer marked_;
  std::set<std::string> marks_;  // of attempts whose remaining processes have not been searched for yet
  bool reap_pending_ = false;
};

// Dumps of running processes, with pids of the head's namespace.
//
// Chooses the files of a dump and translates pids of a PID namespace; agent/dump/dump_taker.h takes the dump.
class ProcessDumps : public AgentPart {
 public:
  // `state` must outlive this object.
  explicit ProcessDumps(AgentState& state);

  void Do(const TakeDump& command, const RunningProcessTable& running);
  // The attempt is about to be stopped: no tool may stay attached to it, now or later in this dump.
  void LetGo(const DumpTaker::Key& key) { taker_.LetGo(key); }

  bool Owns(pid_t pid) const override { return taker_.Owns(pid); }
  bool ChildEnded(pid_t pid) override { return taker_.Ended(pid); }
  bool empty() const override { return taker_.empty(); }
  std::size_t descriptors() const override { return kDescriptorsPerChild * taker_.size(); }
  void Finish() override { taker_.Clear(); }
  void Abandon() override { taker_.Abandon(); }

 private:
  void OnDumped(ProcessDumped dumped) const;

  AgentState& state_;
  DumpTaker taker_;
  std::map<pid_t, pid_t> outer_pids_;  // in a namespace: inner to outer pids when the dump began
};

// The processes of the plan on this host: starts them with their environment, log, ports and terminal, stops them, and
// reports their exits.
//
// Defines the steps of a start and of an exit, and their order; ChildSet starts, signals and reaps.
class RunningProcesses : public AgentPart {
 public:
  // Parts that are notified of starts and exits.
  struct Companions {
    GivenPorts& ports;
    PtySet& terminals;
    Orphans& orphans;
    ProcessDumps& dumps;
    Readiness& readiness;
    ProcessLogs& logs;
    UsageSamples& usage;
  };

  // All of these must outlive this object.
  RunningProcesses(AgentState& state, const Companions& companions);

  // Return a protocol error if the head must not send the command now, else an empty text.
  std::string Do(DefineEnvironment& command);
  std::string Do(const StartProcess& command);
  std::string Do(const StopProcesses& command);
  std::string Do(const SignalProcess& command);
  std::string Do(const RequestOutput& command) const;

  const RunningProcessTable& table() const { return table_; }
  std::size_t size() const { return children_.size(); }

  bool Owns(pid_t pid) const override { return children_.Owns(pid); }
  bool ChildEnded(pid_t pid) override { return children_.Ended(pid); }
  bool empty() const override { return children_.empty(); }
  std::size_t descriptors() const override;
  void Finish() override;
  void Abandon() override;

 private:
  using Key = RunningProcessTable::key_type;

  tl::expected<ProcessStarted, SpawnError> Start(const StartProcess& command, const EnvironmentBlock& block);
  tl::expected<void, SpawnError> CheckDescriptors(const StartProcess& command) const;
  void OnStarted(const StartProcess& command, const EnvironmentBlock& block, ProcessStarted started);
  void OnSpawnFailed(const StartProcess& command, const SpawnError& error);
  void OnExited(const ProcessExited& event);

  AgentState& state_;
  Companions with_;
  ChildSet children_;
  ExitInspector inspector_;
  RunningProcessTable table_;
  std::map<std::uint32_t, EnvironmentBlock> environments_;
};

}  // namespace muster
