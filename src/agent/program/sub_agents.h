// The sub-agents of a standing agent: one for each run of a sweep, each with its own event loop and connection,
// independent of the others. Their processes are forked from the standing agent and serve one run after the other: if a
// sub-agent finished, so that no process of its run is left, its process gets the connection of the next run. In all
// other cases the process exits as well.
//
// Handles sockets and processes; forwards messages between head and sub-agents without reading them. If a sub-agent is
// killed, its remaining processes become children of the standing agent, which is a subreaper and starts no processes
// for runs itself: so all its unknown children are orphans of sub-agents.
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

#include "agent/parts/agent_state.h"
#include "base/system/unique_fd.h"
#include "spawn/leftovers/leftovers.h"
#include "spawn/start/watched_fd.h"
#include "wire/connection/wire.h"
#include "wire/protocol/protocol.h"

namespace muster {

class SubAgents : public AgentPart {
 public:
  // `state` must outlive this object; `wire` is the standing agent's; `end_orphans` kills processes left by sub-agents
  // that have exited. The thread that executes OpenAgent must outlive them.
  SubAgents(AgentState& state, std::shared_ptr<Wire> wire, std::function<KillReport()> end_orphans)
      : state_(state), wire_(std::move(wire)), end_orphans_(std::move(end_orphans)) {}

  // Returns a protocol error if the head must not send the command now, else an empty text. AgentExited reports a
  // sub-agent that cannot be started.
  std::string Do(const OpenAgent& command);
  // Dropped if the sub-agent has exited.
  void Do(const ToAgent& said);
  // Closes the sub-agent's connection, so that it kills all its processes. It is killed if it is stopped (SIGSTOP), or
  // if it has not exited after 10 s.
  void Do(const CloseAgent& command);

  std::size_t size() const { return by_pid_.size(); }

  bool Owns(pid_t pid) const override { return by_pid_.contains(pid); }
  bool ChildEnded(pid_t pid) override;
  // Whether there are no processes of sub-agents, including idle ones.
  bool empty() const override { return by_pid_.empty(); }
  // Closes all connections.
  void Finish() override;
  // The same at once, waiting at most 2 s, so that the last messages of sub-agents are not lost. The caller kills those
  // that have not exited by then.
  void Abandon() override;

 private:
  using Timer = boost::asio::basic_waitable_timer<std::chrono::steady_clock,
                                                  boost::asio::wait_traits<std::chrono::steady_clock>, LoopExecutor>;
  struct One;
  struct Process {
    UniqueFd control;                      // passes connections to it, and returns a byte for each run that it finished
    std::shared_ptr<One> one;              // null while idle
    std::unique_ptr<Timer> patience = {};  // set when it has to exit
  };

  void Open(std::uint32_t number);
  // Returns end() with errno set on failure.
  std::map<pid_t, Process>::iterator Fork();
  // Closes its control socket and its connection, so that it exits.
  void Retire(pid_t pid, Process& process);
  // Whether its sub-agent has finished its run; true once.
  static bool FinishReported(const Process& process);
  // Its connection has closed: its process becomes idle, unless it exits.
  void Finished(const std::shared_ptr<One>& one);
  void Gone(One& one, AgentExited gone);
  void AwaitWords(const std::shared_ptr<One>& one);
  // Forwards its output, about `most` bytes.
  void Hear(One& one, std::size_t most);
  void Write(const std::shared_ptr<One>& one);
  void Listen();

  AgentState& state_;
  std::shared_ptr<Wire> wire_;
  std::function<KillReport()> end_orphans_;
  std::map<pid_t, Process> by_pid_;
  std::vector<pid_t> idle_;  // may contain exited ones
  std::map<std::uint32_t, std::shared_ptr<One>> by_number_;
  std::string buffer_;
  bool deaf_ = false;  // until the queued data has been sent to the head
};

}  // namespace muster
