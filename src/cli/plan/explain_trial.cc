#include "cli/plan/explain_trial.h"

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <map>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <fmt/format.h>

#include "base/system/unique_fd.h"
#include "base/values/quoting.h"
#include "base/values/text_parts.h"
#include "base/values/utf8_text.h"
#include "base/values/value_text.h"
#include "cli/command/command_output.h"
#include "cli/command/printed_schemas.h"
#include "cli/lookup/run_argument.h"
#include "cli/lookup/run_facts.h"
#include "sweep/index/sweep_view.h"
#include "sweep/record/sweep_directory.h"
#include "sweep/record/sweep_journal.h"
#include "sweep/scheduler/suggestion_replay.h"
#include "wire/archive/json_fields.h"
#include "wire/archive/json_schema.h"

namespace muster {
namespace {

// What is printed as JSON, members in the order of their names.
struct PrintedCounts {
  SuggestedPoint why;
};
template <class V>
void Parts(V& v, const PrintedCounts& counts) {
  v("failed", counts.why.failed), v("impossible", counts.why.impossible), v("infeasible", counts.why.infeasible);
  v("results", counts.why.results);
  v("running", counts.why.running);
}
struct PrintedDensities {
  SuggestedPoint why;
};
template <class V>
void Parts(V& v, const PrintedDensities& densities) {
  std::map<std::string, double> axes;
  for (const SuggestedPoint::AxisShare& axis : densities.why.axes) axes[axis.name] = axis.number;
  v("axes", axes), v("good", densities.why.good), v("others", densities.why.others), v("ratio", densities.why.ratio);
}
struct PrintedNear {
  double correlation = 0;
  std::optional<std::uint64_t> trial;  // none: a result of another sweep
  double value = 0;
};
template <class V>
void Parts(V& v, const PrintedNear& near) {
  v("correlation", near.correlation), v("trial", near.trial), v("value", near.value);
}
struct PrintedSecond {
  double expected = 0;
  double from = 0;
  std::string metric;
  double to = 0;

  bool operator==(const PrintedSecond&) const = default;
};
template <class V>
void Parts(V& v, const PrintedSecond& second) {
  v("expected", second.expected), v("from", second.from), v("metric", second.metric), v("to", second.to);
}
struct PrintedExpectation {
  std::optional<double> allowed;
  double best = 0;
  double expected = 0;
  double from = 0;
  double improvement = 0;
  std::map<std::string, double> lengths;
  std::vector<PrintedNear> near;
  double to = 0;
  std::optional<PrintedSecond> second;  // objective; then the improvement is of the area that the results dominate
};
template <class V>
void Parts(V& v, const PrintedExpectation& process) {
  v("allowed", process.allowed), v("best", process.best), v("expected", process.expected), v("from", process.from);
  v("improvement", process.improvement), v("lengths", process.lengths), v("near", process.near);
  v("second", As<UnlessNone>(process.second)), v("to", process.to);
}
struct PrintedSuggestion {
  std::string how;
  std::optional<PrintedCounts> known;
  std::optional<PrintedDensities> densities;
  std::optional<PrintedExpectation> process;
  std::optional<Point> instead;
  std::optional<std::uint64_t> number;
  Point point;
  std::string sampler;
  std::string sweep;
  std::string sweep_dir;
  std::uint64_t trial = 0;
};
template <class V>
void Parts(V& v, const PrintedSuggestion& printed) {
  v("densities", printed.densities), v("format", 1), v("how", printed.how), v("instead", printed.instead);
  v("known", printed.known), v("number", printed.number), v("point", printed.point), v("process", printed.process);
  v("sampler", printed.sampler), v("sweep", printed.sweep), v("sweep_dir", printed.sweep_dir);
  v("trial", printed.trial);
}

// How it got its point, in one word.
std::string HowOf(const TrialSuggestion& found) {
  if (found.source == TrialSuggestion::Source::kChosen) return "chosen";
  if (found.source == TrialSuggestion::Source::kProgram) return "program";
  if (found.source == TrialSuggestion::Source::kBefore) return "before";
  if (found.instead) return "unknown";
  switch (found.why.how) {
    case SuggestedPoint::How::kSequence:
      return "sequence";
    case SuggestedPoint::How::kDrawn:
      return "drawn";
    case SuggestedPoint::How::kDensities:
      return "densities";
    case SuggestedPoint::How::kProcess:
      return "process";
    case SuggestedPoint::How::kRepeated:
      return "repeated";
  }
  return "unknown";
}

PrintedExpectation ProcessOf(const SuggestedPoint& why, const std::optional<Objective>& objective,
                             const std::optional<Objective>& second) {
  const auto value = [&](double loss) { return ObjectiveValue(objective, loss); };
  PrintedExpectation process{
      why.allowed, value(why.best), value(why.expected), value(why.low), why.improvement, {}, {}, value(why.high), {}};
  if (second && why.second) {
    const auto of_second = [&](double loss) { return ObjectiveValue(second, loss); };
    PrintedSecond& printed = process.second.emplace();
    printed.metric = second->metric;
    printed.expected = of_second(why.second->expected);
    std::tie(printed.from, printed.to) = std::minmax({of_second(why.second->low), of_second(why.second->high)});
  }
  if (process.from > process.to) std::swap(process.from, process.to);
  for (const SuggestedPoint::AxisShare& axis : why.axes) process.lengths[axis.name] = axis.number;
  for (const SuggestedPoint::Near& near : why.near)
    process.near.push_back({near.correlation, near.trial, value(near.loss)});
  return process;
}

PrintedSuggestion PrintedOf(const OpenedSweep& sweep, const SweepDescription& description, TrialNumber trial,
                            const TrialSuggestion& found) {
  PrintedSuggestion printed;
  printed.how = HowOf(found);
  printed.point = found.point;
  printed.sampler = KindOf(description.sampler).name;
  printed.sweep = sweep.file.sweep_id;
  printed.sweep_dir = sweep.dir;
  printed.trial = trial;
  printed.instead = found.instead;
  if (printed.how == "sequence" && !description.sampler.seeds) printed.number = found.number;
  if (printed.how == "drawn" || printed.how == "densities" || printed.how == "process") printed.known = {found.why};
  if (printed.how == "densities") printed.densities = {found.why};
  if (printed.how == "process")
    printed.process = ProcessOf(found.why, description.objective, description.second_objective);
  return printed;
}

std::string Number(double number) { return ShownValue(Value(number)); }

// "31 results, 2 failed, 4 running, 1 impossible".
std::string KnownText(const SuggestedPoint& why) {
  std::string text = Counted(why.results, "result");
  if (why.infeasible > 0) text += fmt::format(", {} infeasible", why.infeasible);
  if (why.failed > 0) text += fmt::format(", {} failed", why.failed);
  if (why.running > 0) text += fmt::format(", {} running", why.running);
  if (why.impossible > 0) text += fmt::format(", {} impossible", why.impossible);
  return text;
}

std::string ProcessText(const PrintedExpectation& process, const std::string& metric) {
  std::string text = fmt::format("expected     {} {}, from {} to {} (one standard deviation)\n", metric,
                                 Number(process.expected), Number(process.from), Number(process.to));
  if (const auto& second = process.second) {
    text += fmt::format("expected     {} {}, from {} to {} (one standard deviation)\n", second->metric,
                        Number(second->expected), Number(second->from), Number(second->to));
    text += fmt::format(
        "improvement  {} expected, of the area of {} and {} that the results dominate, in standard "
        "deviations squared\n",
        Number(process.improvement), metric, second->metric);
  } else {
    text += fmt::format("improvement  {} expected over {}, the best so far without its noise\n",
                        Number(process.improvement), Number(process.best));
  }
  if (process.allowed) text += fmt::format("possible     with probability {}\n", Number(*process.allowed));
  for (const PrintedNear& near : process.near) {
    const std::string trial = near.trial ? fmt::format("trial {}", *near.trial) : std::string("a given result");
    text += fmt::format("near         {}: {} {}, correlation {:.2f}\n", trial, metric, Number(near.value),
                        near.correlation);
  }
  for (const auto& [name, length] : process.lengths) {
    text += fmt::format("length       {} {:.2g} of its range\n", name, length);
  }
  return text;
}

std::string SuggestionText(const PrintedSuggestion& printed, const OpenedSweep& sweep, const TrialSuggestion& found,
                           const SweepDescription& description) {
  std::string text = fmt::format("trial {} of {}: {}\n", printed.trial, sweep.file.name, PointText(printed.point));
  const std::string& sampler = printed.sampler;
  if (printed.how == "chosen") return text + "chosen       by a user: --try, muster steer or seed_points\n";
  if (printed.how == "program")
    return text + "program      it was asked for the point: " + ShellQuoted(description.sampler.command) + "\n";
  if (printed.how == "before")
    return text + "not known    the sweep was edited since, and had another sampler or space\n";
  if (printed.how == "unknown") {
    return text + fmt::format(
                      "not known    the {} sampler of this version of muster suggests another point after what "
                      "the journal has: {}\n",
                      sampler, PointText(*printed.instead));
  }
  if (printed.how == "repeated") {
    return text + fmt::format("repeated     another {}: of the points that have seeds left it has the best results\n",
                              description.sampler.seeds->param);
  }
  if (printed.how == "sequence") {
    const std::string which = printed.number ? fmt::format("point {}", *printed.number) : std::string("the next point");
    return text + fmt::format("sampler      {}, {} of its sequence; results have no effect\n", sampler, which);
  }
  text += fmt::format("sampler      {}, after {}\n", sampler, KnownText(found.why));
  if (printed.how == "drawn") return text + "drawn        at random: there are too few results to learn from\n";
  if (printed.how == "process") return text + ProcessText(*printed.process, sweep.ValueName());
  text += fmt::format("densities    {:.3g} times as dense at this point among {} good results as among {} others\n",
                      found.why.ratio, found.why.good, found.why.others);
  for (const SuggestedPoint::AxisShare& axis : found.why.axes) {
    text += fmt::format("  {:<10} {:.3g} times, by this axis alone\n", axis.name, axis.number);
  }
  return text;
}

struct Explained {
  OpenedSweep sweep;
  SweepDescription description;
  TrialNumber trial = 0;
  TrialSuggestion found;
};

Result<Explained> ExplainedOf(const std::string& word) {
  const auto named = SweepAndTrial(word);
  auto sweep = OpenSweep(named->first);
  if (!sweep) return Fail(sweep.error());
  const auto chosen = ChooseTrial(sweep->view, named->second);
  if (!chosen) return Fail(chosen.error());
  auto description = ReadSweepDescription(sweep->dir);
  if (!description) return Fail(description.error());
  const auto space = CompiledSpace::Of(description->space);
  if (!space) return Fail(space.error());
  std::vector<SweepEntry> entries;
  const UniqueFd folder(::open(sweep->dir.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  std::string stopped;
  ReadSweepJournal(
      folder.get(), {},
      [&](SweepRecord record) {
        auto* ended = std::get_if<AttemptEnded>(&record.entry);
        if (ended != nullptr && description->constraints.empty() && !description->second_objective) {
          ended->metrics.clear();
        }
        entries.push_back(std::move(record.entry));
      },
      stopped);
  auto found = SuggestionOf(*space, *description, entries, chosen->trial);
  if (!found) return Fail(found.error());
  return Explained{*std::move(sweep), *std::move(description), chosen->trial, *std::move(found)};
}

}  // namespace

bool IsTrialWord(const std::string& word) {
  std::error_code error;
  return SweepAndTrial(word).has_value() && !std::filesystem::exists(word, error);
}

int ExplainTrial(const std::string& word, bool json) {
  const auto explained = ExplainedOf(word);
  if (!explained) return Refuse(explained.error(), json);
  const auto& [sweep, description, trial, found] = *explained;
  const PrintedSuggestion printed = PrintedOf(sweep, description, trial, found);
  const std::string text =
      json ? JsonOf<PartForms>(printed, 2) + "\n" : SuggestionText(printed, sweep, found, description);
  std::fputs(PrintableLines(text).c_str(), stdout);
  return kExitOk;
}

std::string SuggestionSchema() {
  PrintedSuggestion printed;
  return SchemaOf<PartForms>(printed);
}

}  // namespace muster
