// Maps the entries of a run's journal to notices. Pure: no processes, files or clock.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "muster/plan.h"
#include "run/journal/journal.h"
#include "run/metrics/metric_history.h"
#include "run/notify/notifier.h"

namespace muster {

class RunNoticeMaker {
 public:
  // The plan must outlive it.
  explicit RunNoticeMaker(const Plan& plan) : plan_(plan) {}

  // The notices that follow from the entry, in order: with event, outcome, exit code, why and restart. `seconds`: since
  // the run began.
  std::vector<Notice> Saw(const JournalEntry& entry, double seconds);
  // The run's first metrics, unless they were returned before. A process may report before its start is known here:
  // then they follow the start, or come with the end (`at_end`).
  std::optional<Notice> FirstMetrics(const RoleReports& reports, double seconds, bool at_end);

 private:
  Notice Failed(const std::string& why, double seconds);
  std::string NameOf(ProcessId process) const;

  const Plan& plan_;
  std::string ending_;  // how the last process ended: "worker.2 exited with code 1"
  bool started_ = false;
  bool reported_ = false;
  bool failed_ = false;
};

}  // namespace muster
