// The points of one metric of a running process, as far as pages need them: what is new since the last event, and all
// of it for a page that has just been opened. Values only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "page/compute/down_sample.h"
#include "run/metrics/metric_history.h"

namespace muster {

struct LiveCurve {
  static constexpr std::size_t kMostPoints = 4'000;

  std::vector<double> x;
  std::vector<double> y;
  // Of the points left out between a point and the one before it: how many, and their mean.
  std::vector<std::uint32_t> left_out;
  std::vector<double> mean;
  LeftOut waiting;            // left out after the last point
  std::uint64_t total = 0;    // points reported, including those left out here
  std::size_t sent = 0;       // of x and y
  bool replaced = true;       // pages need all points, not only those after `sent`
  std::uint64_t version = 0;  // of the event that had the last points

  bool thinned() const { return total > x.size(); }
  bool has_news() const { return replaced || sent < x.size(); }
  // With more than kMostPoints, of every four neighbours the lowest and the highest are kept.
  void Add(double at, double value);
};

// The curves of one process, by metric.
class LiveCurves {
 public:
  // `step`: the metric that counts progress; empty: the first one of step, global_step, iteration, iter and epoch that
  // is reported, else the number of the report.
  explicit LiveCurves(std::string step = {}) : step_(std::move(step)) {}

  void Add(const MetricValues& report);
  std::map<std::string, LiveCurve>& curves() { return curves_; }
  const std::map<std::string, LiveCurve>& curves() const { return curves_; }
  const std::string& step() const { return step_; }

 private:
  std::string step_;
  std::optional<double> at_;
  std::uint64_t reports_ = 0;
  std::map<std::string, LiveCurve> curves_;
};

}  // namespace muster
