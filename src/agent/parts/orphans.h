// Orphans: children of this process that none of its parts started, because their own parents have exited. They are
// reaped, and those that an attempt of a process left behind are killed.
//
// Handles pids and marks; the parts report which children they own.
#pragma once

#include <chrono>
#include <set>
#include <string>

#include <boost/asio/basic_waitable_timer.hpp>
#include <sys/types.h>

#include "agent/parts/agent_state.h"
#include "spawn/leftovers/leftovers.h"
#include "spawn/start/watched_fd.h"

namespace muster {

class Orphans {
 public:
  // Time for SIGKILL to take effect.
  static constexpr std::chrono::seconds kKillPatience{5};

  // `state` must outlive this object.
  explicit Orphans(AgentState& state) : state_(state), marked_(state.io.get_executor()) {}

  // Reaps exited children, from the loop. Call it after SIGCHLD and after each exit.
  void ReapSoon();

  // An attempt whose processes carry this variable ("MUSTER_PROCESS=…") has exited: kills the remaining ones after a
  // short time, together with those of other attempts.
  void EndSoon(const std::string& mark);
  // The same now, for all attempts so far. Blocks.
  void EndMarked();
  // Cancels delayed kills.
  void StopTimer() { marked_.cancel(); }

  // Kills and reaps orphans that descend from children of the parts. Blocks.
  KillReport EndAll();
  // The same for all descendants of this process.
  KillReport EndDescendants();

 private:
  using Timer = boost::asio::basic_waitable_timer<std::chrono::steady_clock,
                                                  boost::asio::wait_traits<std::chrono::steady_clock>, LoopExecutor>;

  AgentPart* OwnerOf(pid_t pid) const;
  void Reap();
  // Counts what was killed; `means` is its name in AgentEmpty.
  KillReport Counted(KillReport report, const char* means);

  AgentState& state_;
  Timer marked_;
  std::set<std::string> marks_;  // of attempts whose remaining processes have not been searched for yet
  bool reap_pending_ = false;
};

}  // namespace muster
