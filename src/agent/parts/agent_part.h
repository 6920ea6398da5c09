// Interface of the parts of an agent that have processes of their own: which children they own, and shutting down.
//
// Independent of commands and messages; a part has a function Do() for each command that it executes
// (agent/program/agent.cc has the table of them).
#pragma once

#include <cstddef>

#include <sys/types.h>

namespace muster {

class AgentPart {
 public:
  // The child's pidfd, once for the handle and once for the loop; the index of its log.
  static constexpr std::size_t kDescriptorsPerChild = 3;

  AgentPart() = default;
  virtual ~AgentPart() = default;
  AgentPart(const AgentPart&) = delete;
  AgentPart& operator=(const AgentPart&) = delete;

  // Whether `pid` is a child that this part started and has not reaped yet.
  virtual bool Owns(pid_t pid) const = 0;
  // A child that it owns has exited. True if the part has reaped it; false if a pidfd is about to report it.
  virtual bool ChildEnded(pid_t pid) = 0;
  // Whether it has no child.
  virtual bool empty() const = 0;
  // Maximum number of descriptors that it has open, beyond those that were open before the first start.
  virtual std::size_t descriptors() const { return 0; }

  // Starts nothing more and kills its children; calls AgentState::emptied once they are reaped.
  virtual void Finish() = 0;
  // Cancels everything: children are forgotten, to be killed by other means, and nothing is reported any more.
  virtual void Abandon() = 0;
};

}  // namespace muster
