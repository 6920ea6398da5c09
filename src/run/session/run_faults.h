// Injects the faults of a drill into an active run (docs/drill.md): signals to processes and agents, which their agents
// send, and connections that are held. Each is written to the journal first, and the supervisor knows nothing of it.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>

#include <boost/asio/steady_timer.hpp>
#include <tl/expected.hpp>

#include "muster/event.h"
#include "run/control/control_protocol.h"
#include "run/journal/head_facts.h"

namespace muster {

class AgentLinks;
struct LiveRun;

class RunFaults {
 public:
  RunFaults(LiveRun& run, AgentLinks& links) : run_(run), links_(links) {}

  // The request is one for a fault. One with a duration ends by itself. The error is a sentence: the process is not
  // running, there is no such host, … The head is left to the caller, who kills it: of that it is only recorded.
  tl::expected<void, std::string> Inject(const ControlRequest& request);

 private:
  using Outcome = tl::expected<void, std::string>;

  Outcome InProcess(FaultInjected fault);
  Outcome InHost(FaultInjected fault);
  // SIGSTOP and SIGCONT by turns to all processes of the host, until `end`.
  void Slow(std::uint32_t host, MonotonicNs end, bool stop);
  void Signal(ProcessId process, std::uint32_t attempt, int signal);
  bool Runs(ProcessId process) const;
  // From the loop, unless the run has ended by then.
  void After(std::uint64_t ms, std::function<void()> act);

  LiveRun& run_;
  AgentLinks& links_;
  std::map<std::uint64_t, boost::asio::steady_timer> timers_;  // by a number of its own
  std::uint64_t next_timer_ = 0;
};

}  // namespace muster
