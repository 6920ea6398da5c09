// The curve of a trial in a terminal: a metric that its processes reported, over the one that counts progress.
#pragma once

#include <string>
#include <vector>

#include "base/values/text_plot.h"
#include "muster/result.h"
#include "space/sweep_description.h"

namespace muster {

struct CurveChoice {
  std::string metric = {};     // empty: the objective
  std::string resource = {};   // the metric that counts progress, if it is known
  bool must_exist = false;     // a metric that was not reported is an error
  MetricsChoice in_logs = {};  // what patterns find in the log of the trial
  bool over = true;            // nothing is written to the log any more
};

// A heading, and a plot of the first process that reported the metric, or whose log has it; empty if none did. Kind
// "metrics": the metric was not reported, but others were.
Result<std::vector<std::string>> CurveLines(const std::string& run_dir, const CurveChoice& choice,
                                            const PlotShape& shape);

}  // namespace muster
