// muster importance: which axes of a sweep matter, by the shares of the variance of its results.
#include <algorithm>
#include <cstdio>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/values/diagnostics.h"
#include "base/values/quoting.h"
#include "base/values/text_parts.h"
#include "base/values/utf8_text.h"
#include "cli/command/command.h"
#include "cli/command/command_output.h"
#include "cli/command/printed_schemas.h"
#include "cli/lookup/run_argument.h"
#include "cli/lookup/run_facts.h"
#include "metrics/metrics_line.h"
#include "space/functional_anova.h"
#include "sweep/record/sweep_directory.h"
#include "wire/archive/json_fields.h"
#include "wire/archive/json_schema.h"

namespace muster {
namespace {

struct ImportanceOptions {
  std::string sweep;
  std::string metric;
  bool json = false;
};

// What is printed as JSON, members in the order of their names.
struct PrintedAxis {
  AxisImportance axis;
};
template <class V>
void Parts(V& v, const PrintedAxis& printed) {
  v("deviation", printed.axis.deviation), v("name", printed.axis.name), v("share", printed.axis.share);
  v("trials", printed.axis.trials);
}
struct PrintedPair {
  PairImportance pair;
};
template <class V>
void Parts(V& v, const PrintedPair& printed) {
  v("names", std::vector<std::string>{printed.pair.one, printed.pair.other}), v("share", printed.pair.share);
}
struct PrintedImportance {
  std::vector<PrintedAxis> axes;
  std::string of;
  std::vector<PrintedPair> pairs;
  double rest = 0;
  std::string sweep;
  std::string sweep_dir;
  std::size_t trials = 0;
};
template <class V>
void Parts(V& v, const PrintedImportance& printed) {
  v("axes", printed.axes), v("format", 1), v("method", "functional ANOVA of a random forest over ranks");
  v("of", printed.of), v("pairs", printed.pairs), v("rest", printed.rest), v("sweep", printed.sweep);
  v("sweep_dir", printed.sweep_dir), v("trials", printed.trials);
}

// The points of trials with a value, and these. An empty metric: the objective.
Result<std::vector<std::pair<Point, double>>> ResultsOf(const OpenedSweep& sweep, const std::string& metric) {
  std::vector<std::pair<Point, double>> results;
  std::vector<std::string> known;
  auto read = sweep.view.ForEachTrial(SweepView::Order::kNumber, [&](AttemptRow row) {
    if (metric.empty()) {
      if (row.loss) results.emplace_back(std::move(row.point), *row.loss);
      return true;
    }
    for (const auto& [name, unused] : row.metrics) {
      if (std::find(known.begin(), known.end(), name) == known.end()) known.push_back(name);
    }
    const auto found = row.metrics.find(metric);
    const bool has_result = row.trial_class == TrialClass::kOk || row.trial_class == TrialClass::kStopped;
    const auto number = found == row.metrics.end() || !has_result ? std::nullopt : FiniteNumber(found->second);
    if (number) results.emplace_back(std::move(row.point), *number);
    return true;
  });
  if (!read) return Fail(std::move(read.error()));
  if (results.empty() && !metric.empty()) {
    return Fail(Error("metric", {}, fmt::format("--of {}: no trial has a number of that name", Quoted(metric)),
                      DidYouMean(metric, known)));
  }
  return results;
}

std::string ImportanceText(const PrintedImportance& printed) {
  std::string text =
      fmt::format("{}: shares of the variance over the space, from {} results\n", printed.of, printed.trials);
  std::size_t width = 0;
  for (const PrintedAxis& printed_axis : printed.axes) width = std::max(width, printed_axis.axis.name.size());
  for (const PrintedPair& pair : printed.pairs)
    width = std::max(width, (pair.pair.one + " × " + pair.pair.other).size() - 1);
  const auto line = [&](const std::string& name, std::size_t shown, double share, const std::string& more) {
    const std::string bar(static_cast<std::size_t>(std::max(0.0, share) * 40 + 0.5), '#');
    text += fmt::format("  {}{}  {:>3.0f} %  {}{}\n", name, std::string(width - shown, ' '), share * 100, bar, more);
  };
  for (const PrintedAxis& printed_axis : printed.axes) {
    const AxisImportance& axis = printed_axis.axis;
    const std::string some =
        axis.trials == printed.trials
            ? ""
            : fmt::format("{}{} have it", axis.share > 0.0125 ? "  " : "", Counted(axis.trials, "trial"));
    line(axis.name, axis.name.size(), axis.share, some);
  }
  for (const PrintedPair& pair : printed.pairs) {
    const std::string name = pair.pair.one + " × " + pair.pair.other;
    line(name, name.size() - 1, pair.pair.share, "");
  }
  text += fmt::format("  {:<{}}  {:>3.0f} %\n", "rest", width, printed.rest * 100);
  return text;
}

int RunImportance(const ImportanceOptions& options) {
  const auto sweep = OpenSweep(options.sweep);
  if (!sweep) return Refuse(sweep.error(), options.json);
  const auto description = ReadSweepDescription(sweep->dir);
  if (!description) return Refuse(description.error(), options.json);
  const auto space = CompiledSpace::Of(description->space);
  if (!space) return Refuse(space.error(), options.json);
  if (options.metric.empty() && !sweep->file.objective) {
    return Refuse({Error("sweep", {}, "the sweep has no objective to tell which axes matter for",
                         "--of METRIC names a metric that its trials report")},
                  options.json);
  }
  const auto results = ResultsOf(*sweep, options.metric);
  if (!results) return Refuse(results.error(), options.json);
  const auto importance = ImportanceOf(*space, *results);
  if (!importance) {
    const bool few = results->size() < kMinImportanceTrials;
    return Refuse({Error("sweep", {},
                         few ? fmt::format("too few results to tell which axes matter: {} of the space have one, at "
                                           "least {} are needed",
                                           Counted(results->size(), "trial"), kMinImportanceTrials)
                             : "no axis matters: all results are equal, or none is in the space",
                         "muster show lists the trials")},
                  options.json);
  }
  PrintedImportance printed{{},
                            options.metric.empty() ? sweep->ValueName() : options.metric,
                            {},
                            importance->rest,
                            sweep->file.sweep_id,
                            sweep->dir,
                            importance->trials};
  for (const AxisImportance& axis : importance->axes) printed.axes.push_back({axis});
  for (const PairImportance& pair : importance->pairs) printed.pairs.push_back({pair});
  const std::string text = options.json ? JsonOf<PartForms>(printed, 2) + "\n" : ImportanceText(printed);
  std::fputs(PrintableLines(text).c_str(), stdout);
  return kExitOk;
}

}  // namespace

std::string ImportanceSchema() { return SchemaOf<PartForms>(PrintedImportance()); }

std::function<int()> SetupImportance(CLI::App& app, const Invocation&) {
  auto options = std::make_shared<ImportanceOptions>();
  AddSweepArgument(app, options->sweep);
  app.add_option("--of", options->metric, "a metric; default: the objective")->type_name("METRIC");
  app.add_flag("--json", options->json, "print JSON for programs");
  return [options] { return RunImportance(*options); };
}

}  // namespace muster
