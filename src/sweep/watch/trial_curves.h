// The curves of running trials: the objective as their processes report it, or as patterns find it in their logs, read
// as the files grow. Keeps a bounded number of points for each trial.
//
// The files are written by programs and not trusted (run/directory/metric_history.h, run/metrics/log_history.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "run/metrics/log_patterns.h"
#include "run/metrics/metric_history.h"
#include "space/sweep_description.h"

namespace muster {

struct TrialCurve {
  static constexpr std::size_t kMostPoints = 512;

  std::optional<double> step;   // newest value of the metric that counts progress
  std::optional<double> value;  // newest value of the objective; NaN: it is not finite
  // The objective in the order of the reports. With many reports a point is the mean of neighbours, of finite ones.
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
    std::map<std::uint32_t, std::uint64_t> offsets;  // by attempt
    TrialCurve curve;
    std::size_t stride = 1;  // values of a point
    std::size_t values = 0;  // of the last point, while it is not complete
    std::size_t finite = 0;
    double sum = 0;

    void Take(const MetricHistory& history, const std::string& objective, const std::string& resource);
    void Add(double value);
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

}  // namespace muster
