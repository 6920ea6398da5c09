#include "cli/sweeps/trial_curve.h"

#include <cmath>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "base/values/shell_quote.h"
#include "base/values/suggest.h"

namespace muster {

Result<std::vector<std::string>> CurveLines(const std::vector<ProcessHistory>& histories, const CurveChoice& choice,
                                            const PlotShape& shape) {
  std::set<std::string> known;
  for (const ProcessHistory& process : histories) {
    for (const auto& [name, unused] : process.history.columns) known.insert(name);
    if (!process.history.columns.contains(choice.metric)) continue;
    const std::string step = StepMetric(process.history, choice.resource);
    const MetricSeries series = SeriesOf(process.history, choice.metric, step == choice.metric ? "" : step);
    std::vector<std::string> lines = TextPlot(series.x, series.y, shape);
    if (lines.empty()) continue;
    std::string heading = fmt::format(
        "{} over {}, {}", Printable(choice.metric), step.empty() || step == choice.metric ? "reports" : Printable(step),
        process.role.empty() ? "from its log" : fmt::format("{}.{}", process.role, process.index));
    if (shape.log_y) heading += ", logarithmic";
    lines.insert(lines.begin(), std::move(heading));
    return lines;
  }
  if (!choice.must_exist) return std::vector<std::string>();
  const std::vector<std::string> names(known.begin(), known.end());
  if (known.contains(choice.metric)) {
    return Fail(Error("metrics", {},
                      fmt::format("{} has no value that can be drawn{}", Quoted(choice.metric),
                                  shape.log_y ? " on a logarithmic axis" : "")));
  }
  return Fail(Error("metrics", {}, fmt::format("the trial has not reported {}", Quoted(choice.metric)),
                    names.empty() ? "it has reported nothing" : DidYouMean(choice.metric, names)));
}

}  // namespace muster
