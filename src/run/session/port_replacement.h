// Changes the ports of the whole plan after a foreign process took one: the hosts hold new ports, and the files of the
// run are written again.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "muster/binding.h"
#include "wire/protocol/protocol.h"

namespace muster {

class AgentLinks;
class RunBinding;
struct LiveRun;

class PortReplacement {
 public:
  PortReplacement(LiveRun& run, AgentLinks& links, RunBinding& bound) : run_(run), links_(links), bound_(bound) {}

  // Requests ports of all hosts of the plan; PlanRebound follows.
  void Begin();
  bool active() const { return before_.has_value(); }
  // Must only be called while it is active.
  void OnPortsHeld(std::uint32_t host, const PortsHeld& held);

 private:
  LiveRun& run_;
  AgentLinks& links_;
  RunBinding& bound_;
  std::optional<Binding> before_;  // the binding of the current files of the run
  std::uint32_t answers_due_ = 0;
  std::string error_;  // the first one
};

}  // namespace muster
