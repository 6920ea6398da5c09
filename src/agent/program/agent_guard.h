// The guard of an agent: a second, small process, the parent of the agent. If the agent is killed, the guard inherits
// its remaining processes and kills them, even if the head is gone as well.
//
// A head on the same host does the same for an agent and for its guard
// (docs/decisions/0061-every-agent-has-a-guard.md); on other hosts only the guard does. Uses wait and lists of
// descendants; independent of what agents do.
#pragma once

#include <cstdint>
#include <string>

namespace muster {

// The agent's side: information for its guard.
class AgentGuard {
 public:
  AgentGuard() = default;  // no guard; the functions do nothing

  explicit operator bool() const { return slate_ != nullptr; }
  // The folder of the agent's cgroup, which the guard removes at the end if the agent did not.
  void KnowCgroup(const std::string& path) const;
  // The time after which the head considers a silent agent lost: the guard kills an agent that is stopped (SIGSTOP) for
  // half of it. 0, the initial value: no limit.
  void KnowLease(std::uint64_t ms) const;

 private:
  friend AgentGuard BeGuarded(int failed, int account);
  struct Slate;
  Slate* slate_ = nullptr;
};

// Forks the agent as a child of this process, and returns in it: with all descriptors except `account`; it gets SIGTERM
// if the guard exits. Must be called before anything else: memory pages that this process has modified by then are the
// cost of the guard. The guard itself does not return: it closes all descriptors except stderr, waits for the agent's
// exit as GuardChild does, kills the remaining processes, and exits.
//
// With an `account`, a pipe of its parent, it writes there how many processes it has killed, and exits like the agent.
// With -1 it exits with the agent's exit code, or with `failed` and a message on stderr if a signal killed the agent or
// some process cannot be killed. If no guard can be created, it returns an empty one.
AgentGuard BeGuarded(int failed, int account);

}  // namespace muster
