#include "run/session/port_replacement.h"

#include <utility>

#include "base/values/diagnostics.h"
#include "run/session/agent_links.h"
#include "run/session/live_run.h"
#include "run/session/run_binding.h"

namespace muster {

void PortReplacement::Begin() {
  before_ = run_.binding;
  for (std::uint32_t place = 0; place < run_.plan.hosts.size(); ++place) {
    HoldPorts ports = PortsOfHost(run_.plan, place, PortChoice::kAuto);
    if (ports.ports.empty()) continue;
    ++answers_due_;
    links_.Send(run_.supervisor.slots().machine(place), std::move(ports));
  }
}

void PortReplacement::OnPortsHeld(std::uint32_t host, const PortsHeld& held) {
  const std::optional<std::uint32_t> place = run_.supervisor.slots().host(host);
  if (!place) return;  // no request was sent to it
  const std::string error = bound_.SetPorts(host, *place, held, PortChoice::kAuto);
  if (error_.empty()) error_ = error;
  if (--answers_due_ > 0) return;
  if (error_.empty()) {
    if (const Result<void> rebound = bound_.Rebind(*before_); !rebound) error_ = Sentence(rebound.error());
  }
  before_.reset();
  run_.events.HandleEvent(PlanRebound{run_.binding.ports, std::exchange(error_, {})});
}

}  // namespace muster
