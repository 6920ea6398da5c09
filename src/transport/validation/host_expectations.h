// What an agent may report about its host: its greeting, resources, activation, facts, network paths, agents below it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>

#include "transport/validation/message_verdict.h"
#include "wire/protocol/protocol.h"

namespace muster {

class HostExpectations {
 public:
  // The agent has sent its greeting.
  bool ready() const { return ready_; }

  void Note(const Hello&) { greeted_ = true; }
  void Note(const AllocateResources& command);
  void Note(const Activate&) { activates_ = true; }
  void Note(const Inspect&) { inspects_ = true; }
  void Note(const OpenPaths&) { ++openings_; }
  void Note(const ProbePaths& command) { tries_ = command.targets.size(); }
  void Note(const ClosePaths&) { ++openings_; }
  void Note(const OpenAgent& command) { agents_.insert(command.number); }

  MessageVerdict On(const AgentReady& message);
  MessageVerdict On(const AgentFailed& message);
  MessageVerdict On(const AgentSignalled& message);
  MessageVerdict On(const ResourcesAllocated& message);
  MessageVerdict On(const DevicesAwaited& message);
  MessageVerdict On(const HostActivated& message);
  MessageVerdict On(const Inspected& message);
  MessageVerdict On(const PathsOpen& message);
  MessageVerdict On(const PathsProbed& message);
  MessageVerdict On(const FromAgent& message) const;
  MessageVerdict On(const AgentExited& message);

 private:
  bool greeted_ = false;  // AgentReady is expected
  bool ready_ = false;
  bool failed_ = false;
  bool signalled_ = false;
  bool allocates_ = false;  // ResourcesAllocated is expected
  bool awaits_ = false;     // DevicesAwaited is allowed
  bool activates_ = false;
  bool inspects_ = false;
  std::uint32_t openings_ = 0;        // PathsOpen messages that are expected
  std::optional<std::size_t> tries_;  // number of entries that PathsProbed must have
  std::set<std::uint32_t> agents_;    // agents below it
};

}  // namespace muster
