// The journal of a run, checked against the run's plan: its records' numbers of processes, attempts and hosts are valid
// indices.
//
// A run directory may come from elsewhere, and a journal with correct checksums can name a process that the plan does
// not have. Such records are left out here, once, and counted, so that no consumer has to check.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/system/unique_fd.h"
#include "muster/plan.h"
#include "muster/result.h"
#include "run/journal/journal.h"

namespace muster {

// No run has so many hosts besides those of its plan.
inline constexpr std::uint32_t kMostSpares = 1U << 16;

class CheckedJournal {
 public:
  CheckedJournal(const Plan& plan, JournalContents contents);

  const std::vector<JournalRecord>& records() const { return records_; }
  // Why records are missing: JournalContents::stopped, and how many did not fit. Empty if none are.
  const std::string& damage() const { return damage_; }

 private:
  std::vector<JournalRecord> records_;
  std::string damage_;
};

// The plan and the checked journal of a run directory: what reports are made from.
struct RecordedRun {
  UniqueFd folder;
  Plan plan;
  CheckedJournal journal;
};

// Fails with kind "run" if the folder holds no plan, and as PlanFromJson does if the plan is invalid. A journal that
// cannot be read has no records.
Result<RecordedRun> ReadRun(const std::string& run_dir);

}  // namespace muster
