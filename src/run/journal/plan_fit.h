// Checks whether the records of a journal are valid for a plan.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "muster/plan.h"
#include "run/journal/journal.h"

namespace muster {

// Checks records against a plan, in the order of the journal.
class PlanFit {
 public:
  explicit PlanFit(const Plan& plan);

  // Returns whether the record is valid: each process that it names is below Plan::processes.size(), each host below
  // Plan::hosts.size() + kMostSpares; no list of processes is longer than the plan's, and a HostSet ascends. An attempt
  // is ordered once, after the one before it, and named only after that; attempt 0 may always be named.
  bool Take(const JournalRecord& record);
  // Why the last invalid record is invalid.
  const std::string& problem() const { return problem_; }

 private:
  std::vector<std::uint32_t> ordered_;  // by process: number of ordered attempts
  std::uint64_t hosts_;
  std::string problem_;
};

}  // namespace muster
