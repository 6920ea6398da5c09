// The reports of running trials: lines of $MUSTER_METRICS as they are written, logs, and result files.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include <boost/asio/io_context.hpp>

#include "muster/event.h"
#include "muster/result.h"
#include "run/metrics/log_patterns.h"
#include "run/metrics/metric_history.h"
#include "space/sweep_description.h"

namespace muster {

// Metrics of a trial besides its lines of $MUSTER_METRICS: its log, its result file, and which values can be
// compared.
//
// The input is written by programs and not trusted.

struct Plan;

// A comparable number; `given` without a number: the value is not finite, or no number. A trial with such an objective
// has diverged.
struct MetricNumber {
  bool given = false;
  std::optional<double> number = {};
};
MetricNumber NumberOf(const MetricValues& values, const std::string& metric);

// Reads MetricsChoice::result_file once the trial has ended. `cwd`: the folder that muster was called from. Kind
// "metrics": the file is missing, or is no JSON object.
Result<MetricValues> ReadResultFile(const Plan& plan, const MetricsChoice& choice, const std::string& run_dir,
                                    const std::string& cwd);

// Reads the reports of running trials as they are written: lines of JSON at $MUSTER_METRICS, and values that patterns
// find in a log.
//
// One process of each role counts, as in the report of a run (run/report/metrics_report.h): the first one that reported
// anything. Which one that is is known only at the end, so a process with a lower index takes over with its first line.
// The files are written by programs and not trusted. inotify(7) notifies of writes, without polling; writes of another
// machine into a shared folder are not notified, and are read at the end.

class TrialMetrics;

// Watches the reports of all trials of a head.
class MetricsWatch {
 public:
  explicit MetricsWatch(boost::asio::io_context& io);
  MetricsWatch(const MetricsWatch&) = delete;
  MetricsWatch& operator=(const MetricsWatch&) = delete;
  ~MetricsWatch();

  // False: writes cannot be watched here, and reports are read at the end.
  bool live() const;

  struct Trial {
    std::string run_dir;                    // absolute; exists, with its folders
    const LogPatterns* patterns = nullptr;  // null: no log is read; must outlive the returned object
    std::string log_of;                     // "worker.0": the process whose log is read
    std::string resource = "step";          // see below
    std::function<void(const MetricValues&)> report = {};
    // If set, reports of all processes at $MUSTER_METRICS are passed to this function instead, each with its process.
    std::function<void(const std::string& role, std::uint32_t index, const MetricValues&)> process_report = {};
    bool at_once = true;  // false: report nothing before Follow() or Finish()
  };
  // Calls `report` from the loop for each report, in order. A report is a line of JSON, or a line of the log in which
  // at least one pattern finds a value. A line with the resource alone is no report, but sets the resource of the
  // following ones; if the resource has the only pattern, each match is a report.
  std::unique_ptr<TrialMetrics> Watch(Trial trial);

 private:
  friend class TrialMetrics;
  struct Impl;
  std::shared_ptr<Impl> impl_;
};

// The reports of one trial; watched during the lifetime of this object.
class TrialMetrics {
 public:
  ~TrialMetrics();
  TrialMetrics(const TrialMetrics&) = delete;
  TrialMetrics& operator=(const TrialMetrics&) = delete;

  // Reports from now on as data is written, beginning with everything so far. May be called again.
  void Follow();
  // The writers have ended: reports everything that is left, and ends the watch.
  void Finish();
  // The latest value of each metric.
  const MetricValues& last() const;
  std::uint64_t reports() const;
  // Lines of $MUSTER_METRICS that are no JSON object, too long, or truncated.
  std::uint64_t bad_lines() const;

 private:
  friend class MetricsWatch;
  struct State;
  TrialMetrics(std::shared_ptr<MetricsWatch::Impl> watch, std::shared_ptr<State> state);
  std::shared_ptr<MetricsWatch::Impl> watch_;
  std::shared_ptr<State> state_;
};

}  // namespace muster
