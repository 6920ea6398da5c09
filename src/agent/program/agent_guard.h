// The processes around an agent: its guard, the agent's parent, which inherits and kills the processes that a killed
// agent leaves, even if the head is gone as well; and the first process of a container in a pod, which holds the pod
// until the agent in it has ended.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <string>

#include <sys/types.h>

namespace muster {

// The first process of a container in a pod: it holds the pod until the agent that muster starts in it by `kubectl
// exec` has ended, so that the end of the agent is the end of the pod.

// Waits for an agent, at most so long, and then until no agent is left; reaps orphans meanwhile. SIGTERM, with which
// the deletion of the pod begins, is passed on to the agents, which end within the pod's grace period; without an
// agent, and the second time, it returns. Returns the exit code: 0 if there was an agent, or on SIGTERM; else 1, with a
// message on stderr. All other processes of the container's PID namespace end with this one.
int HoldPod(std::chrono::seconds wait);

// Called by an agent, before it has children: process 1 of its PID namespace, which must be in HoldPod(), awaits the
// end of the calling process. Returns an empty text, or an error.
const char* JoinHolder();

// The guard of an agent: a second, small process, the parent of the agent. If the agent is killed, the guard inherits
// its remaining processes and kills them, even if the head is gone as well.
//
// A head on the same host does the same for an agent and for its guard
// (docs/decisions/0061-every-agent-has-a-guard.md); on other hosts only the guard does. Uses wait and lists of
// descendants; independent of what agents do.

// The descriptors that the guard keeps besides stderr; -1: none. At most one of them is given.
struct GuardTies {
  // A pipe of its parent: the guard writes there how many processes it has killed, and exits like the agent.
  int kill_count = -1;
  // The agent's connection, a socket: the guard closes it when no process is left, so that the head sees the end of the
  // connection after everything else. If a process cannot be killed, the connection is reset instead.
  int connection = -1;
};

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
  // The agent has reported a SIGTERM that its guard forwarded, and goes on: the guard does not wait for its end.
  void NoteTermination() const;
  // Whether there was a guard, which has exited. Not in a PID namespace.
  bool IsGone() const;
  // The agent is about to exit: its guard must run for that, also one that was stopped (SIGSTOP).
  void Wake() const;
  // Where it sees whether a frame has been sent in part (Wire::MarkPartial); null without a guard.
  std::atomic<bool>* partial() const;

 private:
  friend AgentGuard BeGuarded(int failed, const GuardTies& ties);
  struct Slate;
  Slate* slate_ = nullptr;
  pid_t pid_ = 0;
};

// Forks the agent as a child of this process, and returns in it: with all descriptors except `ties`; it gets SIGTERM
// if the guard exits. Must be called before anything else: memory pages that this process has modified by then are the
// cost of the guard. The guard itself does not return: it closes all descriptors except stderr and `ties`, waits for
// the agent's exit as GuardChild does, kills the remaining processes, and exits.
//
// Without a pipe for that number it exits with the agent's exit code, or with `failed` and a message on stderr if a
// signal killed the agent or some process cannot be killed. If no guard can be created, it returns an empty one and
// leaves the ties open.
AgentGuard BeGuarded(int failed, const GuardTies& ties);

}  // namespace muster
