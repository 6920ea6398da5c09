// The kernel mechanisms that keep track of all processes of an agent: its PID namespace, its cgroup and its guard.
//
// Independent of particular processes.
#pragma once

#include <optional>

#include "agent/parts/agent_state.h"
#include "agent/program/agent_guard.h"
#include "spawn/leftovers/confinement.h"
#include "wire/protocol/connection_messages.h"

namespace muster {

class Containment {
 public:
  // `state` must outlive this object.
  explicit Containment(AgentState& state) : state_(state) {}

  void NoteTermination() const { guard_.NoteTermination(); }
  bool GuardIsGone() const { return guard_.IsGone(); }
  void WakeGuard() const { guard_.Wake(); }
  void BeGuardedBy(const AgentGuard& guard) { guard_ = guard; }

  // Creates the cgroup; appends the mechanisms to `ready`, whose `pid` is set. True if Enter() must be called.
  bool Begin(const Hello& hello, AgentReady& ready);
  // Moves the agent into its cgroup, which waits for the kernel.
  void Enter();
  // Kills all processes in the cgroup, if there is one.
  void Kill();
  // Leaves the cgroup and removes it if it is empty.
  void Leave() { cgroup_.reset(); }

 private:
  AgentState& state_;
  AgentGuard guard_;
  std::optional<Cgroup> cgroup_;
};

}  // namespace muster
