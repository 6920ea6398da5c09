// Dumps of running processes, with pids as the head knows them.
//
// Knows where a dump goes and what a PID namespace does to pids; how one is taken is in agent/dump/dump_taker.h.
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
  // `state` must outlive it.
  explicit ProcessDumps(AgentState& state);

  void Do(const TakeDump& command, const RunningProcessTable& running);
  // The attempt is to end: no tool may hold it, now or later in this dump.
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
  std::map<pid_t, pid_t> outer_pids_;  // in a namespace, when a dump was begun: pids inside and outside
};

}  // namespace muster
