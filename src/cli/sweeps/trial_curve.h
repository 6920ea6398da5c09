// The curve of a trial in a terminal: a metric that its processes reported, over the one that counts progress.
#pragma once

#include <string>
#include <vector>

#include "base/values/text_plot.h"
#include "muster/result.h"
#include "run/directory/metric_history.h"

namespace muster {

struct CurveChoice {
  std::string metric = {};    // empty: the objective
  std::string resource = {};  // the metric that counts progress, if it is known
  bool must_exist = false;    // a metric that was not reported is an error
};

// A heading, and a plot of the first process that has the metric; empty if none has. Kind "metrics": the metric was not
// reported, but others were.
Result<std::vector<std::string>> CurveLines(const std::vector<ProcessHistory>& histories, const CurveChoice& choice,
                                            const PlotShape& shape);

}  // namespace muster
