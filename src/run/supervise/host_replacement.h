// What a lost host means: whether the policies of what ran there allow a spare to take its place, which spare that is,
// and what has to be started again. Also which machines still answer.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "muster/event.h"
#include "muster/plan.h"
#include "muster/site.h"
#include "run/supervise/host_slots.h"
#include "run/supervise/restart_budget.h"

namespace muster {

class ProcessStates;

class HostReplacement {
 public:
  // One restart because of a lost host.
  struct Relocation {
    ProcessId ended = 0;  // a process that ran there, whose role's budget pays
    RestartPolicy::Scope scope = RestartPolicy::Scope::kProcess;
    std::vector<ProcessId> members;
    std::string because;  // of more than its policy says; added to the reason
    RestartBudget::Grant grant;
  };

  // The plan must outlive this.
  HostReplacement(const Plan& plan, const std::vector<SiteHost>& spares);

  const HostSlots& slots() const { return slots_; }
  // Of each machine: its agent is lost or has attested its end.
  const std::vector<bool>& over() const { return over_; }
  std::uint32_t machines_left() const { return machines_left_; }
  // The machine's agent is gone. Whether that is news.
  bool MachineOver(std::uint32_t machine);

  // The restarts that the loss of the host needs; nothing, with `why` extended, if the policies do not cover it.
  std::optional<std::vector<Relocation>> Relocations(std::uint32_t host, const ProcessStates& states,
                                                     std::string& why) const;
  // The spare to take the host's place; nothing, with `why` extended, if there is none.
  std::optional<std::uint32_t> SpareFor(std::uint32_t host, std::string& why) const;

  // The spare takes the host's place from now on, and is to be prepared for that (ReplaceOrdered).
  void Begin(std::uint32_t host, std::uint32_t spare);
  // Places are being taken: nothing is started meanwhile.
  bool under_way() const { return !replacing_.empty(); }
  // Whether the answer is to an order that is still open; it is not any more.
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
