#include "run/supervise/host_slots.h"

#include <algorithm>

namespace muster {

HostSlots::HostSlots(const Plan& plan, const std::vector<SiteHost>& spares) {
  for (const PlanHost& host : plan.hosts) {
    machine_of_.push_back(machines());
    names_.push_back(host.name.empty() ? host.label : host.name);
    devices_.push_back(host.devices);
  }
  spare_.assign(names_.size(), false);
  for (const SiteHost& spare : spares) {
    names_.push_back(spare.name);
    devices_.push_back(spare.devices.value_or(0));
    spare_.push_back(true);
  }
}

std::optional<std::uint32_t> HostSlots::host(std::uint32_t machine) const {
  const auto found = std::find(machine_of_.begin(), machine_of_.end(), machine);
  if (found == machine_of_.end()) return std::nullopt;
  return static_cast<std::uint32_t>(found - machine_of_.begin());
}

std::uint32_t HostSlots::spares() const {
  return static_cast<std::uint32_t>(std::count(spare_.begin(), spare_.end(), true));
}

std::optional<std::uint32_t> HostSlots::SpareFor(std::uint32_t host) const {
  std::optional<std::uint32_t> best;
  for (std::uint32_t machine = 0; machine < machines(); ++machine) {
    if (!spare_[machine] || devices_[machine] < devices_[host]) continue;
    if (!best || devices_[machine] < devices_[*best]) best = machine;
  }
  return best;
}

void HostSlots::Replace(std::uint32_t host, std::uint32_t spare) {
  Drop(spare);
  machine_of_[host] = spare;
}

void HostSlots::Drop(std::uint32_t spare) { spare_[spare] = false; }

}  // namespace muster
