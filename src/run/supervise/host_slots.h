// Which machine stands for which host of the plan: the one that was named for it, or a spare that took its place.
//
// Pure. Machines have numbers: those named for the plan's hosts have theirs, spares the numbers after them. A machine
// that was replaced keeps its number and stands for nobody.
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
  // Spares have a number of devices. Plan and spares are only read while this is made.
  HostSlots(const Plan& plan, const std::vector<SiteHost>& spares);

  std::uint32_t machines() const { return static_cast<std::uint32_t>(names_.size()); }
  std::uint32_t machine(std::uint32_t host) const { return machine_of_[host]; }
  // The host of the plan that the machine stands for.
  std::optional<std::uint32_t> host(std::uint32_t machine) const;
  // As the user named it, else as the plan does.
  const std::string& name(std::uint32_t machine) const { return names_[machine]; }

  std::uint32_t spares() const;  // that are left
  // The one with the fewest devices of those that have as many as the host or more; of equal ones the first.
  std::optional<std::uint32_t> SpareFor(std::uint32_t host) const;
  // The spare is none any more and stands for the host.
  void Replace(std::uint32_t host, std::uint32_t spare);
  // It is no spare any more.
  void Drop(std::uint32_t spare);

 private:
  std::vector<std::string> names_;         // by machine
  std::vector<std::uint32_t> devices_;     // of a machine as it was given, and so of each host of the plan
  std::vector<bool> spare_;                // by machine
  std::vector<std::uint32_t> machine_of_;  // by host of the plan
};

}  // namespace muster
