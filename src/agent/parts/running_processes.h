// The processes of the plan on this host: starts them with their environment, log, ports and terminal, stops them, and
// reports their exits.
//
// Defines the steps of a start and of an exit, and their order; ChildSet starts, signals and reaps.
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
#include "agent/parts/usage_samples.h"
#include "agent/processes/child_set.h"
#include "agent/processes/environment_block.h"
#include "agent/processes/exit_inspector.h"
#include "agent/processes/given_ports.h"
#include "agent/processes/pty_set.h"

namespace muster {

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
