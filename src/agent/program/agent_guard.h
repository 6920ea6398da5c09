// The guard of an agent: a second process, of a few pages, which is the agent's parent and inherits what the agent
// leaves behind if it is ended in a way that it cannot see to that itself. It ends all of that, whoever else is gone.
//
// A head on the same host does the same for an agent and for its guard
// (docs/decisions/0061-every-agent-has-a-guard.md); elsewhere the guard is all there is. Knows wait and descendants;
// nothing of what agents do.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>

namespace muster {

// The descriptors that the guard keeps besides stderr; -1: it has none. At most one of both is given.
struct GuardTies {
  // A pipe of its parent: there it tells what it has killed, and ends as the agent did.
  int account = -1;
  // The agent's connection, a socket: the guard closes it when nothing is left, so that the head sees its end after all
  // else. If something cannot be ended the connection is reset instead.
  int connection = -1;
};

// The agent's side: what its guard is told.
class AgentGuard {
 public:
  AgentGuard() = default;  // there is none, and nobody is told

  explicit operator bool() const { return slate_ != nullptr; }
  // The folder of the agent's cgroup, which the guard removes at the end if the agent did not live to do so.
  void KnowCgroup(const std::string& path) const;
  // How long its head waits for an agent that it does not hear: one that is stopped (SIGSTOP) for half of that is
  // ended. 0, as in the beginning: it may be stopped for as long as it likes.
  void KnowLease(std::uint64_t ms) const;
  // Where it sees whether a frame has been sent in part (Wire::MarkPartial); null without a guard.
  std::atomic<bool>* partial() const;

 private:
  friend AgentGuard BeGuarded(int failed, const GuardTies& ties);
  struct Slate;
  Slate* slate_ = nullptr;
};

// Makes the agent a child of this process, as whom it returns: with the descriptors there are but `ties`, to be sent
// SIGTERM if the guard ends. To be called before anything else is done: what this process has written to its memory by
// then is what the guard costs. The guard itself does not return: it lets go of all descriptors but stderr and `ties`,
// waits for the agent's end as GuardChild does, and ends once nothing is left.
//
// Without an account it exits with the agent's exit code, or with `failed` and a word on stderr if a signal ended the
// agent or something cannot be ended. If there can be no guard there is none, and the ties are as they were.
AgentGuard BeGuarded(int failed, const GuardTies& ties);

}  // namespace muster
