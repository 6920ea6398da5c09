// The reports of running processes as they are written: lines of JSON at $MUSTER_METRICS, and values that patterns find
// in a log.
//
// One process of each role counts: the first one that reported anything. Which one that is is known only at the end, so
// a process with a lower index takes over with its first line. The files are written by programs and not trusted.
// inotify(7) notifies of writes, without polling; writes of another machine into a shared folder are not notified, and
// are read at the end.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include <boost/asio/io_context.hpp>

#include "metrics/log_patterns.h"
#include "metrics/metrics_line.h"

namespace muster {

class WatchedMetrics;

// Watches the reports of many runs.
class MetricsWatch {
 public:
  explicit MetricsWatch(boost::asio::io_context& io);
  MetricsWatch(const MetricsWatch&) = delete;
  MetricsWatch& operator=(const MetricsWatch&) = delete;
  ~MetricsWatch();

  // False: writes cannot be watched here, and reports are read at the end.
  bool live() const;

  struct Run {
    std::string run_dir;                    // absolute; exists, with its folders
    const LogPatterns* patterns = nullptr;  // null: no log is read; must outlive the returned object
    std::string log_of = {};                // "worker.0": the process whose log is read
    std::string resource = {};              // as in LogReports
    std::function<void(const MetricValues&)> report = {};
    // If set, reports of all processes at $MUSTER_METRICS are passed to this function instead, each with its process.
    std::function<void(const std::string& role, std::uint32_t index, const MetricValues&)> process_report = {};
    bool at_once = true;  // false: report nothing before Follow() or Finish()
  };
  // Calls `report` from the loop for each report, in order: a line of JSON, or a line of the log that is one
  // (LogReports).
  std::unique_ptr<WatchedMetrics> Watch(Run run);

 private:
  friend class WatchedMetrics;
  struct Impl;
  std::shared_ptr<Impl> impl_;
};

// The reports of one run; watched during the lifetime of this object.
class WatchedMetrics {
 public:
  ~WatchedMetrics();
  WatchedMetrics(const WatchedMetrics&) = delete;
  WatchedMetrics& operator=(const WatchedMetrics&) = delete;

  // Reports from now on as data is written, beginning with everything so far. May be called again.
  void Follow();
  // The writers have ended: reports everything that is left, and ends the watch.
  void Finish();
  // Lines of $MUSTER_METRICS that are no JSON object, too long, or truncated.
  std::uint64_t bad_lines() const;

 private:
  friend class MetricsWatch;
  struct State;
  WatchedMetrics(std::shared_ptr<MetricsWatch::Impl> watch, std::shared_ptr<State> state);
  std::shared_ptr<MetricsWatch::Impl> watch_;
  std::shared_ptr<State> state_;
};

}  // namespace muster
