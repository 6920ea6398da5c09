// Determines when processes are ready, and runs the readiness commands that some of them have.
//
// Handles conditions and commands of processes; ReadyWatch observes ports, files and logs.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "agent/parts/agent_part.h"
#include "agent/parts/agent_state.h"
#include "agent/processes/child_set.h"
#include "agent/processes/environment_block.h"
#include "agent/processes/given_ports.h"
#include "agent/processes/ready_watch.h"

namespace muster {

class Readiness : public AgentPart {
 public:
  using Key = ReadyWatch::Key;

  // Both must outlive this object. `ports` knows the owners of ports.
  Readiness(AgentState& state, GivenPorts& ports);

  // The attempt has been started, with this environment block below its own variables.
  void Watch(const StartProcess& command, const EnvironmentBlock& block);
  // Another file has replaced its log.
  void Replaced(const Key& key) { watch_.Replaced(key); }
  // The attempt has exited: checks a last time, then stops watching it.
  void AttemptEnded(const Key& key);

  bool Owns(pid_t pid) const override { return probes_.Owns(pid); }
  bool ChildEnded(pid_t pid) override { return probes_.Ended(pid); }
  bool empty() const override { return probes_.empty(); }
  std::size_t descriptors() const override { return kDescriptorsPerChild * probes_.size(); }
  void Finish() override;
  void Abandon() override;

 private:
  // Values from the start of a process that its readiness command requires.
  struct Probe {
    std::vector<std::string> argv;
    std::vector<std::string> search_dirs;
    std::string cwd;
    std::vector<std::string> env;  // "name=value"
  };

  void OnReady(const Key& key);
  bool MayCount(const Key& key, std::uint16_t port);
  void StartProbe(const Key& key);
  void OnProbeExited(const ProcessExited& event);

  AgentState& state_;
  GivenPorts& ports_;
  ReadyWatch watch_;
  ChildSet probes_;  // readiness commands, by the numbers of their processes
  std::map<Key, Probe> starts_;
};

}  // namespace muster
