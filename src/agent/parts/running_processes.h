// The processes of the plan on this host: started with their environment, log, ports and terminal, stopped, and
// reported when they exit.
//
// Knows what belongs to a start and to an exit, and in which order; what starts, signals and reaps is ChildSet.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>

#include <tl/expected.hpp>

#include "agent/parts/agent_part.h"
#include "agent/parts/agent_state.h"
#include "agent/parts/orphans.h"
#include "agent/parts/process_dumps.h"
#include "agent/parts/process_logs.h"
#include "agent/parts/readiness.h"
#include "agent/parts/running_process.h"
#include "agent/processes/child_set.h"
#include "agent/processes/environment_block.h"
#include "agent/processes/exit_inspector.h"
#include "agent/processes/given_ports.h"
#include "agent/processes/pty_set.h"

namespace muster {

class RunningProcesses : public AgentPart {
 public:
  // What starts and exits are reported to.
  struct Companions {
    GivenPorts& ports;
    PtySet& terminals;
    Orphans& orphans;
    ProcessDumps& dumps;
    Readiness& readiness;
    ProcessLogs& logs;
  };

  // All of these must outlive it.
  RunningProcesses(AgentState& state, const Companions& companions);

  // Empty, or why a head must not send that command now.
  std::string Do(DefineEnvironment& command);
  std::string Do(const StartProcess& command);
  std::string Do(const StopProcesses& command);
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
  ExitInspector witness_;
  RunningProcessTable table_;
  std::map<std::uint32_t, EnvironmentBlock> environments_;
};

}  // namespace muster
