// The logs of processes: made, kept within their limits, with an index of times; written through a pipe where the file
// system cannot cut off the head of a file.
//
// Knows which of these applies to a log; how each is done is in agent/logs/.
#pragma once

#include <functional>
#include <string>

#include <tl/expected.hpp>

#include "agent/logs/log_pipes.h"
#include "agent/logs/log_times.h"
#include "agent/logs/log_trims.h"
#include "agent/parts/agent_part.h"
#include "agent/parts/agent_state.h"

namespace muster {

class ProcessLogs : public AgentPart {
 public:
  using Key = LogTimes::Key;
  static constexpr std::size_t kDescriptorsPerPipe = 3;  // its end, the log, and the file that takes the log's place

  // `state` must outlive it. `replaced`: another file has taken the place of an attempt's log.
  ProcessLogs(AgentState& state, std::function<void(const Key&)> replaced);

  // The folder of all logs is there: how limits are kept in it, as AgentReady names it.
  const char* Begin(const std::string& folder);

  // For stdout and stderr of an attempt that is about to start.
  tl::expected<UniqueFd, SpawnError> Open(const StartProcess& command);
  // It could not be started …
  void Drop(const Key& key) { pipes_.Drop(key); }
  // … or has been.
  void Began(const Key& key, const FileBelow& log, std::uint64_t limit) { times_.Began(key, log, limit); }
  // It has exited: what it wrote to a pipe gets into its log …
  void Drain(const Key& key) { pipes_.Drain(key); }
  void DrainAll() { pipes_.DrainAll(); }
  // … and that is all there will be in it.
  void Ended(const Key& key) { times_.Ended(key); }
  void AllEnded() { times_.EndAll(); }

  bool Owns(pid_t pid) const override { return trims_.Owns(pid); }
  bool ChildEnded(pid_t pid) override { return trims_.Ended(pid); }
  bool empty() const override { return trims_.empty(); }
  std::size_t descriptors() const override {
    return kDescriptorsPerChild * trims_.size() + kDescriptorsPerPipe * pipes_.size();
  }
  void Finish() override {}  // a log that is being cut is waited for
  void Abandon() override { trims_.Abandon(); }

 private:
  AgentState& state_;
  LogTimes times_;
  LogPipes pipes_;
  LogTrims trims_;
  bool collapses_ = false;  // logs with a limit; else they are written through pipes
};

}  // namespace muster
