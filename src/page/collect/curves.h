// Reads the curves of a page's rows from the metrics of their run directories, thinned out.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "muster/value.h"
#include "page/collect/page_content.h"
#include "run/metrics/metric_history.h"

namespace muster {

inline constexpr std::size_t kMostPagePoints = 170'000;  // of all curves: about 1.8 MB in the page
inline constexpr std::size_t kMostCurvePoints = 2'000;
inline constexpr std::size_t kLeastCurvePoints = 24;
inline constexpr std::size_t kMostPageMetrics = 24;

// Points of each curve, for that many rows.
std::size_t CurvePoints(std::uint64_t rows);

class CurveReader {
 public:
  // `points` of each curve; `resource`: the preferred metric for x, may be empty; `objective`: the first metric, may be
  // empty.
  CurveReader(PageContent& page, std::size_t points, std::string resource, const std::string& objective);

  // Those of the processes that count in reports, as the curves of that row. If several have a metric, the first one
  // counts.
  void AddRoles(std::size_t row, std::vector<ProcessHistory> histories);
  void Add(std::size_t row, const ProcessHistory& process);

 private:
  std::uint32_t MetricOf(const std::string& name);

  PageContent* page_;
  std::size_t points_;
  std::string resource_;
};

// Makes the curves of the page small enough as a whole: the first metric keeps up to half of all points; metrics with
// the fewest curves are dropped if there are too many.
void LimitCurves(PageContent& page);

// The metric that counts the progress of trials, according to the description of a sweep; empty if it has none.
std::string ResourceOf(const Value& description);

}  // namespace muster
