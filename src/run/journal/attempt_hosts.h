// On which machine (run/supervise/host_slots.h) each attempt of a run's processes was, and what the machines are
// called, as the journal tells it.
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
  // The arguments are only read while this is made.
  AttemptHosts(const Plan& plan, const CheckedJournal& journal);

  // Of an attempt that was not ordered: where it would be.
  std::uint32_t Of(ProcessId process, std::uint32_t attempt) const;
  // As its processes find it called; before that is known as the user named it, else the plan's label.
  std::string Name(std::uint32_t machine) const;
  // What the plan's devices are called there; empty before they were given.
  std::vector<std::string> Devices(std::uint32_t machine) const;

 private:
  struct Machine {
    std::string name;
    std::vector<std::string> devices;
  };

  std::vector<std::uint32_t> host_of_;     // of each process, the plan's
  std::vector<std::uint32_t> machine_of_;  // of each host of the plan, at last
  std::map<std::uint32_t, Machine> machines_;
  std::map<std::pair<ProcessId, std::uint32_t>, std::uint32_t> ordered_;  // machine of each attempt
};

}  // namespace muster
