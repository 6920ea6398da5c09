// Orphans: children of this process that none of its parts started, because their own parents have exited. They are
// reaped, and those that an attempt of a process left behind are killed.
//
// Knows pids and marks; which children belong to a part the parts say.
#pragma once

#include <chrono>
#include <set>
#include <string>

#include <boost/asio/basic_waitable_timer.hpp>
#include <sys/types.h>

#include "agent/parts/agent_state.h"
#include "spawn/leftovers/descendants.h"
#include "spawn/start/watched_fd.h"

namespace muster {

class Orphans {
 public:
  // SIGKILL has to show effect within this.
  static constexpr std::chrono::seconds kKillPatience{5};

  // `state` must outlive it.
  explicit Orphans(AgentState& state) : state_(state), marked_(state.io.get_executor()) {}

  // Reaps the children that have exited, from the loop. Needed after SIGCHLD, and after each exit.
  void ReapSoon();

  // An attempt has exited whose processes carry this variable ("MUSTER_PROCESS=…"): what is left of them is killed
  // soon, many attempts at once.
  void EndSoon(const std::string& mark);
  // The same now, for all attempts so far. Blocks meanwhile.
  void EndMarked();
  // Nothing is killed later on.
  void StopTimer() { marked_.cancel(); }

  // Kills and reaps the orphans, which a part lost with a child. Blocks meanwhile.
  KillReport EndAll();
  // The same with everything below this process.
  KillReport EndDescendants();

 private:
  using Timer = boost::asio::basic_waitable_timer<std::chrono::steady_clock,
                                                  boost::asio::wait_traits<std::chrono::steady_clock>, LoopExecutor>;

  AgentPart* OwnerOf(pid_t pid) const;
  void Reap();
  // Counts what was ended; `means` is how AgentEmpty names it.
  KillReport Counted(KillReport report, const char* means);

  AgentState& state_;
  Timer marked_;
  std::set<std::string> marks_;  // of attempts whose leftovers have not been looked for yet
  bool reap_pending_ = false;
};

}  // namespace muster
