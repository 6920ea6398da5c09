// Maps hosts of the plan to machines: the one that was named for the host, or a spare that replaced it.
//
// Pure. Machines have numbers: first those named for the plan's hosts, in their order, then the spares. A replaced
// machine keeps its number and is not mapped to any host.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "muster/plan.h"
#include "muster/site.h"

namespace muster {

class HostSlots {
 public:
  // Spares must have a number of devices. Plan and spares are only read by the constructor.
  HostSlots(const Plan& plan, const std::vector<SiteHost>& spares);

  std::uint32_t machines() const { return static_cast<std::uint32_t>(names_.size()); }
  std::uint32_t machine(std::uint32_t host) const { return machine_of_[host]; }
  // The host of the plan that is mapped to the machine.
  std::optional<std::uint32_t> host(std::uint32_t machine) const;
  // The name given by the user, else the plan's.
  const std::string& name(std::uint32_t machine) const { return names_[machine]; }

  std::uint32_t spares() const;  // unused spares
  // Of the spares with at least as many devices as the host, the one with the fewest; the first of several.
  std::optional<std::uint32_t> SpareFor(std::uint32_t host) const;
  // Maps the host to the spare, which is then no longer a spare.
  void Replace(std::uint32_t host, std::uint32_t spare);
  // Removes it from the spares.
  void Drop(std::uint32_t spare);

 private:
  std::vector<std::string> names_;         // by machine
  std::vector<std::uint32_t> devices_;     // by machine: devices that it was given, as for its host of the plan
  std::vector<bool> spare_;                // by machine
  std::vector<std::uint32_t> machine_of_;  // by host of the plan
};

}  // namespace muster
