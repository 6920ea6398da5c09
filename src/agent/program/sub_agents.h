// The agents below a standing one: one for each run of a sweep, each with a loop and a connection of its own and no
// knowledge of the others. Their processes are forked from it, and serve one run after the other: a process whose agent
// finished, which means that nothing of the run is left, is given the next run's connection. Of any other end it is the
// process's own end, too.
//
// Knows sockets and processes; passes on what the head and they say to each other without reading it. Whatever one of
// them leaves behind when it is killed comes to the standing agent, which is their subreaper and starts nothing for
// runs itself: so everything that is not known here is what was left.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include <boost/asio/basic_waitable_timer.hpp>
#include <sys/types.h>

#include "agent/parts/agent_part.h"
#include "agent/parts/agent_state.h"
#include "base/system/unique_fd.h"
#include "spawn/leftovers/descendants.h"
#include "spawn/start/watched_fd.h"
#include "wire/connection/wire.h"
#include "wire/protocol/protocol.h"

namespace muster {

class SubAgents : public AgentPart {
 public:
  // `state` must outlive it; `wire` is the standing agent's; `end_orphans` ends what is left by agents that are gone.
  // The thread that executes OpenAgent must live as long as they do.
  SubAgents(AgentState& state, std::shared_ptr<Wire> wire, std::function<KillReport()> end_orphans)
      : state_(state), wire_(std::move(wire)), end_orphans_(std::move(end_orphans)) {}

  // Empty, or why a head must not send that now. An agent that cannot be started is reported by AgentExited.
  std::string Do(const OpenAgent& command);
  // What is said to one that is gone is dropped.
  void Do(const ToAgent& said);
  // It sees its connection end, and ends all it has started. One that is stopped (SIGSTOP) is killed instead, and one
  // that has not ended 10 s later.
  void Do(const CloseAgent& command);

  std::size_t size() const { return by_pid_.size(); }

  bool Owns(pid_t pid) const override { return by_pid_.contains(pid); }
  bool ChildEnded(pid_t pid) override;
  // Whether there are none, idle ones included.
  bool empty() const override { return by_pid_.empty(); }
  // Closes all.
  void Finish() override;
  // The same at once, waiting for 2 s: they end by themselves, so that what their processes have said is not lost. One
  // that has not ended by then is the caller's to end.
  void Abandon() override;

 private:
  using Timer = boost::asio::basic_waitable_timer<std::chrono::steady_clock,
                                                  boost::asio::wait_traits<std::chrono::steady_clock>, LoopExecutor>;
  struct One;
  struct Process {
    UniqueFd control;                      // takes connections, and gives a byte for each agent that finished
    std::shared_ptr<One> one;              // null while it is idle
    std::unique_ptr<Timer> patience = {};  // once it is to end
  };

  void Open(std::uint32_t number);
  // End, with errno, if that cannot be.
  std::map<pid_t, Process>::iterator Fork();
  // It takes no more connections, and sees the one that it has end: it is to end.
  void Retire(pid_t pid, Process& process);
  // Whether the agent that it served had; true once.
  static bool FinishReported(const Process& process);
  // Its connection is over: its process is idle, unless it ends.
  void Finished(const std::shared_ptr<One>& one);
  void Gone(One& one, AgentExited gone);
  void AwaitWords(const std::shared_ptr<One>& one);
  // Passes on what it has said, about `most` bytes of it.
  void Hear(One& one, std::size_t most);
  void Write(const std::shared_ptr<One>& one);
  void Listen();

  AgentState& state_;
  std::shared_ptr<Wire> wire_;
  std::function<KillReport()> end_orphans_;
  std::map<pid_t, Process> by_pid_;
  std::vector<pid_t> idle_;  // and some that are gone
  std::map<std::uint32_t, std::shared_ptr<One>> by_number_;
  std::string buffer_;
  bool deaf_ = false;  // until the head has taken what waits for it
};

}  // namespace muster
