// The current state of a sweep and its running trials, and their curves. Reads the directories of the sweep and its
// trials.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "metrics/curve.h"
#include "metrics/growing_file.h"
#include "metrics/log_patterns.h"
#include "metrics/metric_history.h"
#include "muster/result.h"
#include "run/journal/run_summary.h"
#include "space/sweep_description.h"
#include "sweep/record/sweep_directory.h"
#include "sweep/record/sweep_progress.h"

namespace muster {

// The curves of running trials: the objective as their processes report it, or as patterns find it in their logs, read
// as the files grow. Keeps a bounded number of points for each trial.
//
// The files are written by programs and not trusted.

struct TrialCurve {
  static constexpr std::size_t kMaxPoints = 512;

  std::optional<double> step;   // newest value of the metric that counts progress
  std::optional<double> value;  // newest value of the objective; NaN: it is not finite
  // The objective in the order of the reports, NaN where it is not finite. With many reports a point is the mean of
  // neighbours, of finite ones.
  std::vector<double> points;
};

class TrialCurves {
 public:
  // The metrics: the objective, and the one that counts progress if it is known; and which are read from logs.
  TrialCurves(std::string objective, std::string resource, MetricsChoice in_logs = {});

  // Reads what the run of a trial has reported since the last call for it. Of the roles that report the objective the
  // first one counts, and of a role its first process, with all its attempts; the log counts if none does.
  const TrialCurve& Read(const std::string& run_dir);

  // Drops the curves of all other runs.
  void Keep(const std::vector<std::string>& run_dirs);

 private:
  // What was read of the files of one process.
  struct Process {
    std::map<std::uint32_t, GrowingFile> files;  // by attempt
    Curve values;                                // over the number of the report
    TrialCurve curve;

    void Take(const MetricHistory& history, const std::string& objective, const std::string& resource);
  };
  struct Run {
    std::map<std::string, Process> roles;
    std::optional<RunLog> log;
    Process of_log;
  };

  void ReadFiles(Run& run, const std::string& run_dir);

  std::string objective_;
  std::string resource_;
  MetricsChoice in_logs_;
  std::optional<LogPatterns> patterns_;
  std::map<std::string, Run> runs_;  // by run directory
};

// The current state of a sweep and its running trials. Reads the directories of the sweep and of its running trials;
// contacts no head.

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

// The running trials in `progress`, of the sweep in `dir`.
std::vector<RunningTrial> TrialsThatRun(const SweepProgress& progress, const std::string& dir);

// Fails as SweepView::Open and ReadSweepFile do.
Result<SweepSnapshot> ReadSweepSnapshot(const std::string& dir);

}  // namespace muster
