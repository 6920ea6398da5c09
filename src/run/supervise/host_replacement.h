// Handles the loss of a host: which machine serves a host of the plan, and whether a spare replaces it.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "muster/event.h"
#include "muster/plan.h"
#include "muster/site.h"
#include "run/supervise/restarts.h"

namespace muster {

// Maps hosts of the plan to machines: the one that was named for the host, or a spare that replaced it.
//
// Pure. Machines have numbers: first those named for the plan's hosts, in their order, then the spares. A replaced
// machine keeps its number and is not mapped to any host.
class HostSlots {
 public:
  // Spares must have a number of devices. Plan and spares are only read by the constructor.
  HostSlots(const Plan& plan, const std::vector<SiteHost>& spares);

  std::uint32_t machines() const { return static_cast<std::uint32_t>(names_.size()); }
  std::uint32_t machine(std::uint32_t host) const { return machine_of_[host]; }
  // The host of the plan that is mapped to the machine.
  std::optional<std::uint32_t> host(std::uint32_t machine) const { return host_of_[machine]; }
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
  std::vector<std::optional<std::uint32_t>> host_of_;  // by machine: the inverse
};

// Handles the loss of a host: whether the policies of its processes allow a spare to replace it, which spare that is,
// and which processes must be restarted. Also tracks which machines still have an agent.

class ProcessStates;

class HostReplacement {
 public:
  // One restart because of a lost host.
  struct Relocation {
    ProcessId ended = 0;  // a process of that host, whose role's budget is charged
    RestartPolicy::Scope scope = RestartPolicy::Scope::kProcess;
    std::vector<ProcessId> members;
    std::string because;  // why more is restarted than its policy says; added to the reason
    RestartBudget::Grant grant;
  };

  // The plan must outlive this.
  HostReplacement(const Plan& plan, const std::vector<SiteHost>& spares);

  const HostSlots& slots() const { return slots_; }
  // By machine: whether its agent is lost or has reported its end.
  const std::vector<bool>& over() const { return over_; }
  std::uint32_t machines_left() const { return machines_left_; }
  // Records that the machine's agent is gone. Returns false if that was known.
  bool MachineOver(std::uint32_t machine);

  // The restarts that the loss of the host requires; empty, with `why` extended, if the policies do not cover it.
  std::optional<std::vector<Relocation>> Relocations(std::uint32_t host, const ProcessStates& states,
                                                     std::string& why) const;
  // The spare to replace the host; empty, with `why` extended, if there is none.
  std::optional<std::uint32_t> SpareFor(std::uint32_t host, std::string& why) const;

  // Lets the spare replace the host from now on, and orders its preparation (ReplaceOrdered).
  void Begin(std::uint32_t host, std::uint32_t spare);
  // Whether a replacement is in progress: no process is started meanwhile.
  bool under_way() const { return !replacing_.empty(); }
  // Whether the answer is to an open order, which it closes.
  bool Answered(const HostReplaced& event);
  void Cancel() { replacing_.clear(); }

 private:
  const Plan& plan_;
  HostSlots slots_;
  std::set<std::uint32_t> replacing_;  // hosts of the plan
  std::vector<bool> over_;
  std::uint32_t machines_left_ = 0;
};

}  // namespace muster
