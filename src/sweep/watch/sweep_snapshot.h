// The current state of a sweep and its running trials. Reads the directories of the sweep and of its running trials;
// contacts no head.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "muster/result.h"
#include "run/journal/run_summary.h"
#include "run/metrics/metric_history.h"
#include "sweep/record/sweep_directory.h"
#include "sweep/record/sweep_progress.h"

namespace muster {

// The latest attempt of a trial that has begun and not ended.
struct RunningTrial {
  TrialNumber trial = 0;
  std::uint32_t attempt = 0;  // from 0
  Point point;
  std::vector<std::string> hosts;  // none: this machine
  RunSummary run;                  // summarised; its phase is "preparing" until its journal has begun
  RoleReports metrics;

  // "12", or "12.2" for its second attempt: the part after SWEEP: in its name.
  std::string Word() const;
  // "step 100, loss 0.25 (lr=0.1)"; safe for a terminal.
  std::string About() const;
  std::string PointWords() const;  // "lr=0.1", likewise
};

struct SweepSnapshot {
  std::string dir;
  SweepFile file;  // with the slots that a user has set since
  bool live = false;
  std::string state;           // "running", "complete", "stopped", "lost"
  std::string why;             // why the head exited
  std::string started_at;      // UTC, of the first head
  double seconds = 0;          // since then, until now or the last entry
  std::uint64_t possible = 0;  // trials, as far as they have been judged
  std::uint64_t over = 0;
  std::uint64_t failed = 0;
  std::uint64_t waiting = 0;  // possible, neither finished nor running
  std::string waits;          // which devices it waits for and who holds them; empty if no trial waits
  std::optional<BestTrial> best;
  std::vector<RunningTrial> running;   // by number; none without an active head
  std::optional<double> seconds_left;  // sweep/record/sweep_status.h (Forecast)

  // "loss 0.31 (trial 4)"; safe for a terminal, empty without a best one.
  std::string BestText() const;
  std::string BestPointWords() const;  // its point, likewise
};

// The running trials in `account`, of the sweep in `dir`.
std::vector<RunningTrial> RunningTrials(const SweepProgress& account, const std::string& dir);

// Fails as SweepView::Open and ReadSweepFile do.
Result<SweepSnapshot> ReadSweepSnapshot(const std::string& dir);

}  // namespace muster
