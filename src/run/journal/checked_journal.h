// The journal of a run, checked against the run's plan: the numbers of processes, attempts and hosts in its records are
// valid indices.
//
// A run directory may come from elsewhere, and a journal with correct checksums can name a process that the plan does
// not have. Such records are removed here, once, and counted, so that no consumer has to check.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/system/unique_fd.h"
#include "muster/plan.h"
#include "muster/result.h"
#include "run/journal/journal.h"

namespace muster {

// More hosts than any run has besides those of its plan.
inline constexpr std::uint32_t kMostSpares = 1U << 16;

class CheckedJournal {
 public:
  CheckedJournal(const Plan& plan, JournalContents contents);

  const std::vector<JournalRecord>& records() const { return records_; }
  // Why records are missing: JournalContents::stopped, and how many were invalid. Empty if none are missing.
  const std::string& damage() const { return damage_; }

 private:
  std::vector<JournalRecord> records_;
  std::string damage_;
};

// The plan and the checked journal of a run directory: the input of reports.
struct RecordedRun {
  UniqueFd folder;
  std::shared_ptr<const Plan> plan;  // never null
  CheckedJournal journal;
};

// Fails with kind "run" if the folder has no plan, and as PlanFromJson does if the plan is invalid. A journal that
// cannot be read has no records. With `plan`, which must be the one in the folder, plan.json is not read: parsing it is
// most of the work for a plan of many processes.
Result<RecordedRun> ReadRun(const std::string& run_dir, std::shared_ptr<const Plan> plan = nullptr);

}  // namespace muster
