// Injects the faults of a drill into an active run (docs/drill.md): signals to processes and agents, which their agents
// send, connections that are held, disks that agents fill, and notices of an engine. Each is written to the journal
// first, and the supervisor knows nothing of it.
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
#include "wire/protocol/protocol.h"

namespace muster {

class AgentLinks;
class RunProcessTable;
struct LiveRun;

class RunFaults {
 public:
  RunFaults(LiveRun& run, AgentLinks& links, const RunProcessTable& processes)
      : run_(run), links_(links), processes_(processes) {}

  // The request is one for a fault. One with a duration ends by itself. The error is a sentence: the process is not
  // running, there is no such host, …. The head is left to the caller, who kills it: of that it is
  // only recorded.
  tl::expected<FaultAnswer, std::string> Inject(const ControlRequest& request);
  // The answer of an agent.
  void Filled(std::uint32_t host, const DiskFilled& answer);
  // Called for the notice of an engine.
  void WhenEngineEnds(std::function<void(FaultKind kind)> ends) { engine_ends_ = std::move(ends); }

 private:
  using Outcome = tl::expected<FaultAnswer, std::string>;

  Outcome InProcess(FaultInjected fault);
  Outcome InHost(FaultInjected fault);
  Outcome InDisk(FaultInjected fault, const std::string& target);
  Outcome InHead(const FaultInjected& fault);
  // The machine of that name, if it is at work.
  std::optional<std::uint32_t> MachineNamed(const std::string& name) const;
  // SIGSTOP and SIGCONT by turns to all processes of the host, until `end`.
  void Slow(std::uint32_t host, MonotonicNs end, bool stop);
  void Signal(ProcessId process, std::uint32_t attempt, int signal);
  bool Runs(ProcessId process) const;
  // From the loop, unless the run has ended by then.
  void After(std::uint64_t ms, std::function<void()> act);

  LiveRun& run_;
  AgentLinks& links_;
  const RunProcessTable& processes_;
  std::map<std::uint64_t, boost::asio::steady_timer> timers_;  // by a number of its own
  std::uint64_t next_timer_ = 0;
  struct Filling {
    std::uint32_t machine = 0;
    FaultInjected fault;
    std::optional<std::string> error;  // the agent's answer
  };
  std::map<std::string, Filling> fillings_;  // by target
  std::function<void(FaultKind)> engine_ends_;
};

}  // namespace muster
