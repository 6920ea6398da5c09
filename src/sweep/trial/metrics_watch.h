// What running trials report, as they report it: lines of JSON at $MUSTER_METRICS, and values that patterns find in a
// log.
//
// Of each role one process speaks, as in the report of a run (run/report/metrics_report.h): its first one that reported
// anything. Who is first is not known before the end, so one with a lower index than that which spoke until now takes
// over with its first line. The files are the programs' and not trusted. inotify(7) tells of writes, nothing is polled;
// where another machine writes into a shared folder the kernel is silent, and what it wrote is read at the end.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include <boost/asio/io_context.hpp>

#include "sweep/trial/log_patterns.h"
#include "sweep/trial/metric_values.h"

namespace muster {

class TrialMetrics;

// Watches for all trials of a head.
class MetricsWatch {
 public:
  explicit MetricsWatch(boost::asio::io_context& io);
  MetricsWatch(const MetricsWatch&) = delete;
  MetricsWatch& operator=(const MetricsWatch&) = delete;
  ~MetricsWatch();

  // False: the kernel tells of no writes here, and reports are read at the end.
  bool live() const;

  struct Trial {
    std::string run_dir;                    // absolute; there, with its folders
    const LogPatterns* patterns = nullptr;  // null: no log is read; lives longer than what is returned
    std::string log_of;                     // "worker.0": the process whose log is read
    std::string resource = "step";          // see below
    std::function<void(const MetricValues&)> report;
    bool at_once = true;  // false: nothing is reported before Follow() or Finish()
  };
  // Calls `report` from the loop for each report, in order. A line of JSON is one; so is a line of the log in which at
  // least one pattern finds a value. A line in which only the resource is found is none, but the number holds for those
  // that follow until there is another; where it is the only pattern each line counts.
  std::unique_ptr<TrialMetrics> Watch(Trial trial);

 private:
  friend class TrialMetrics;
  struct Impl;
  std::shared_ptr<Impl> impl_;
};

// The reports of one trial; watched for as long as this lives.
class TrialMetrics {
 public:
  ~TrialMetrics();
  TrialMetrics(const TrialMetrics&) = delete;
  TrialMetrics& operator=(const TrialMetrics&) = delete;

  // From now on reports are told as they are written, those so far first. It may be so already.
  void Follow();
  // Nobody writes any more: reports what is left at once, and ends the watch.
  void Finish();
  // The last of each.
  const MetricValues& last() const;
  std::uint64_t reports() const;
  // Lines of $MUSTER_METRICS that are no object of JSON, too long, or cut.
  std::uint64_t bad_lines() const;

 private:
  friend class MetricsWatch;
  struct State;
  TrialMetrics(std::shared_ptr<MetricsWatch::Impl> watch, std::shared_ptr<State> state);
  std::shared_ptr<MetricsWatch::Impl> watch_;
  std::shared_ptr<State> state_;
};

}  // namespace muster
