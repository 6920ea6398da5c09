// Dumps of running processes, with pids of the head's namespace.
//
// Chooses the files of a dump and translates pids of a PID namespace; agent/dump/dump_taker.h takes the dump.
#pragma once

#include <map>

#include <sys/types.h>

#include "agent/dump/dump_taker.h"
#include "agent/parts/agent_part.h"
#include "agent/parts/agent_state.h"
#include "agent/parts/running_process.h"

namespace muster {

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

}  // namespace muster
