// Reads from the journal on which machine (run/supervise/host_slots.h) each attempt of a run's processes was, and the
// names of the machines.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "muster/plan.h"
#include "run/journal/checked_journal.h"

namespace muster {

class AttemptHosts {
 public:
  // The arguments are only read by the constructor.
  AttemptHosts(const Plan& plan, const CheckedJournal& journal);

  // The machine of the attempt; for an attempt that was not ordered, the one that it would be on.
  std::uint32_t Of(ProcessId process, std::uint32_t attempt) const;
  // The machine's own host name; before that is known, the name given by the user, else the plan's label.
  std::string Name(std::uint32_t machine) const;
  // Names of the plan's devices on the machine; empty before they were allocated.
  std::vector<std::string> Devices(std::uint32_t machine) const;

 private:
  struct Machine {
    std::string name;
    std::vector<std::string> devices;
  };

  std::vector<std::uint32_t> host_of_;     // by process: host of the plan
  std::vector<std::uint32_t> machine_of_;  // by host of the plan: its last machine
  std::map<std::uint32_t, Machine> machines_;
  std::map<std::pair<ProcessId, std::uint32_t>, std::uint32_t> ordered_;  // machine of each attempt
};

}  // namespace muster
