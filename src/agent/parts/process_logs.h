// The logs of processes: created, kept within their limits, with a time index; written through a pipe if the file
// system cannot cut off the beginning of a file.
//
// Chooses the method for each log; agent/logs/ implements the methods.
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
  static constexpr std::size_t kDescriptorsPerPipe = 3;  // the pipe's read end, the log, and its replacement

  // `state` must outlive this object. `replaced`: another file has replaced an attempt's log.
  ProcessLogs(AgentState& state, std::function<void(const Key&)> replaced);

  // Call it once the folder of all logs exists. Returns the mechanism that enforces limits there, as named in
  // AgentReady.
  const char* Begin(const std::string& folder);

  // The descriptor for stdout and stderr of an attempt that is about to start.
  tl::expected<UniqueFd, SpawnError> Open(const StartProcess& command);
  // The attempt could not be started …
  void Drop(const Key& key) { pipes_.Drop(key); }
  // … or has been started.
  void Began(const Key& key, const FileBelow& log, std::uint64_t limit) { times_.Began(key, log, limit); }
  // The attempt has exited: writes the content of its pipe to its log …
  void Drain(const Key& key) { pipes_.Drain(key); }
  void DrainAll() { pipes_.DrainAll(); }
  // … and records that the log is complete.
  void Ended(const Key& key) { times_.Ended(key); }
  void AllEnded() { times_.EndAll(); }

  bool Owns(pid_t pid) const override { return trims_.Owns(pid); }
  bool ChildEnded(pid_t pid) override { return trims_.Ended(pid); }
  bool empty() const override { return trims_.empty(); }
  std::size_t descriptors() const override {
    return kDescriptorsPerChild * trims_.size() + kDescriptorsPerPipe * pipes_.size();
  }
  void Finish() override {}  // waits for logs that are being cut
  void Abandon() override { trims_.Abandon(); }

 private:
  AgentState& state_;
  LogTimes times_;
  LogPipes pipes_;
  LogTrims trims_;
  bool collapses_ = false;  // logs with a limit are cut; otherwise they are written through pipes
};

}  // namespace muster
