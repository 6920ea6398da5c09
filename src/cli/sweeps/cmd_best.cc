// muster best: prints the best trials of a sweep, with swept values and metrics.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/values/number_text.h"
#include "base/values/quoting.h"
#include "base/values/text_parts.h"
#include "base/values/value_text.h"
#include "cli/command/command.h"
#include "cli/command/command_output.h"
#include "cli/command/printed_schemas.h"
#include "cli/lookup/run_argument.h"
#include "cli/lookup/run_facts.h"
#include "cli/lookup/run_list.h"
#include "space/group_statistics.h"
#include "sweep/record/sweep_status.h"
#include "wire/archive/json_fields.h"
#include "wire/archive/json_schema.h"

namespace muster {
namespace {

struct BestOptions {
  std::string sweep;
  std::optional<std::uint64_t> most;
  std::vector<std::string> where;
  bool json = false;
};

void Print(const OpenedSweep& sweep, const std::vector<TrialFacts>& trials) {
  std::vector<std::vector<std::string>> rows = {{"TRIAL", "ID", Printable(sweep.ValueName())}};
  const auto& second = sweep.file.second_objective;
  if (second) rows.front().push_back(Printable(second->metric));
  for (const std::string& name : sweep.file.names) rows.front().push_back(Printable(name));
  rows.front().emplace_back("TOOK");
  for (const TrialFacts& trial : trials) {
    std::vector<std::string>& row = rows.emplace_back();
    for (const char* name : {"trial", "id", "value"}) row.push_back(Printable(ShownValue(trial.Of(name))));
    row[1] = trial.row().id;
    if (second) row.push_back(Printable(ShownValue(trial.Of("metric." + second->metric))));
    for (const std::string& name : sweep.file.names) {
      const Value value = trial.Of("param." + name);
      row.push_back(value.IsNull() ? "" : Printable(ShownValue(value)));
    }
    row.push_back(CellText("took", trial.Of("took")));
  }
  PrintTable(rows);
}

// The best trials for which the conditions hold. All trials are looked at: a name that only failed ones have is one.
Result<std::vector<TrialFacts>> BestOf(const OpenedSweep& sweep, const ListChoice& choice, std::uint64_t most) {
  TrialConditions conditions(choice.conditions);
  if (!choice.conditions.empty()) {
    auto read = sweep.view.ForEachTrial(SweepView::Order::kNumber, [&](AttemptRow row) {
      conditions.HoldFor(TrialFacts(sweep, std::move(row)));
      return true;
    });
    if (!read) return Fail(std::move(read.error()));
    if (auto sound = conditions.Check(); !sound) return Fail(sound.error());
  }
  std::vector<TrialFacts> trials;
  auto read = sweep.view.ForEachTrial(SweepView::Order::kLoss, [&](AttemptRow row) {
    TrialFacts trial(sweep, std::move(row));
    if (conditions.HoldFor(trial)) trials.push_back(std::move(trial));
    return trials.size() < most;
  });
  if (!read) return Fail(std::move(read.error()));
  return trials;
}

// Of two objectives: the trials that no other one dominates, by the first one.
std::vector<TrialFacts> FrontOf(const Objective& second, std::vector<TrialFacts> trials, std::uint64_t most) {
  std::vector<std::pair<double, double>> losses;
  std::erase_if(trials, [&](const TrialFacts& trial) { return !LossOf(second, trial.row().metrics); });
  for (const TrialFacts& trial : trials) losses.emplace_back(*trial.row().loss, *LossOf(second, trial.row().metrics));
  std::size_t first_front = 0;
  std::vector<std::size_t> places = ByFronts(losses, &first_front);
  places.resize(first_front);
  std::sort(places.begin(), places.end());
  std::vector<TrialFacts> front;
  for (const std::size_t place : places) {
    if (front.size() < most) front.push_back(std::move(trials[place]));
  }
  return front;
}

// The points all of whose repetitions have succeeded and are among these trials, the best first.
std::vector<PointGroup> RepeatedOf(const OpenedSweep& sweep, const std::vector<TrialFacts>& trials) {
  std::set<TrialNumber> chosen;
  for (const TrialFacts& trial : trials) chosen.insert(trial.row().trial);
  std::vector<PointGroup> points = PointGroupsOf(sweep.view.progress());
  std::erase_if(points, [&](const PointGroup& point) {
    const auto is_chosen = [&](const auto& one) { return chosen.contains(one.first); };
    return !point.ranked || !std::all_of(point.losses.begin(), point.losses.end(), is_chosen);
  });
  return points;
}

constexpr double kSignificant = 0.05;

// "the second, x=2, is not distinguishable from it: …"; empty without a second one.
std::string DifferenceText(const std::vector<PointGroup>& points) {
  if (points.size() < 2) return {};
  const auto chance = WelchTest(points[0].statistics(), points[1].statistics());
  if (!chance) return {};
  return fmt::format("the second, {}, {} from it: Welch's t-test, p = {:.2g}", Printable(PointText(points[1].point)),
                     *chance < kSignificant ? "is different" : "is not distinguishable", *chance);
}

void PrintPoints(const OpenedSweep& sweep, const std::vector<PointGroup>& points, std::uint64_t most) {
  const auto count = static_cast<std::ptrdiff_t>(std::min<std::uint64_t>(most, points.size()));
  PrintGroups(sweep, {points.begin(), points.begin() + count});
  if (const std::string text = DifferenceText(points); !text.empty()) std::printf("%s\n", PrintableLines(text).c_str());
}

// Members are in the order of their names.
struct PrintedBestTrials {
  std::optional<PrintedObjective> objective;
  std::optional<PrintedObjective> second_objective;
  std::vector<PrintedGroup> points;
  std::optional<double> second_differs;  // p of Welch's t-test
  std::string sweep;
  std::string sweep_dir;
  std::vector<PrintedTrial> trials;
};
template <class V>
void Parts(V& v, const PrintedBestTrials& printed) {
  v("format", 1), v("objective", printed.objective), v("points", As<UnlessNone>(printed.points));
  v("second_differs", As<UnlessNone>(printed.second_differs));
  v("second_objective", As<UnlessNone>(printed.second_objective)), v("sweep", printed.sweep),
      v("sweep_dir", printed.sweep_dir);
  v("trials", printed.trials);
}

int RunBest(const BestOptions& options) {
  const auto choice = ReadListChoice(options.where, {}, {});
  if (!choice) return Refuse(choice.error(), options.json);
  const auto sweep = OpenSweep(options.sweep);
  if (!sweep) return Refuse(sweep.error(), options.json);
  constexpr auto kAll = std::numeric_limits<std::uint64_t>::max();
  const auto& second = sweep->file.second_objective;
  const Repetitions& seeds = sweep->view.progress().seeds();
  const bool repeats = seeds.count > 0;
  auto best = BestOf(*sweep, *choice, second || repeats ? kAll : options.most.value_or(1));
  if (!best) return Refuse(best.error(), options.json);
  if (second) best = FrontOf(*second, *std::move(best), options.most.value_or(kAll));
  const std::vector<PointGroup> points = repeats ? RepeatedOf(*sweep, *best) : std::vector<PointGroup>();
  const std::uint64_t most = options.most.value_or(1);
  if (!points.empty()) {  // the trials of these points
    std::set<std::uint64_t> shown;
    for (std::size_t i = 0; i < points.size() && i < most; ++i) {
      for (const auto& [trial, loss] : points[i].losses) shown.insert(trial);
    }
    std::erase_if(*best, [&](const TrialFacts& trial) { return !shown.contains(trial.row().trial); });
  }
  const std::vector<TrialFacts>& trials = *best;
  if (repeats && points.empty() && !trials.empty()) {
    return Refuse({Error("trial", {}, fmt::format("no point has succeeded with all of its {} seeds", seeds.count),
                         "trials so far: muster ls " + ShellQuoted(sweep->file.name))},
                  options.json);
  }
  if (trials.empty()) {
    const std::string name = ShellQuoted(sweep->file.name);
    if (!options.where.empty() && sweep->view.progress().best()) {
      return Refuse({Error("trial", {}, "the condition holds for no trial that has succeeded with a value",
                           "all trials for which it holds: muster ls " + name + " --where …")},
                    options.json);
    }
    if (const auto infeasible = sweep->view.progress().count(TrialClass::kInfeasible)) {
      return Refuse({Error("trial", {},
                           fmt::format("no trial meets the constraints: {} violate them", Counted(infeasible, "trial")),
                           "which: muster ls " + name + " --where 'state == infeasible'")},
                    options.json);
    }
    if (!sweep->file.objective) {
      return Refuse({Error("trial", {}, "the sweep has no objective, so no trial is the best",
                           "--minimize METRIC when it is started; muster ls " + name + " --sort METRIC orders trials")},
                    options.json);
    }
    const std::uint64_t stopped = sweep->view.progress().count(TrialClass::kStopped);
    return Refuse(
        {Error("trial", {},
               "no trial has succeeded with a value of the objective" +
                   (stopped > 0 ? fmt::format(": {} stopped early", Counted(stopped, "trial was", "trials were"))
                                : std::string()),
               (sweep->live ? "the sweep is still running: muster show " : "reason: muster show ") + name)},
        options.json);
  }
  if (!options.json) {
    if (repeats) {
      PrintPoints(*sweep, points, most);
    } else {
      Print(*sweep, trials);
    }
    const auto& no_gain = sweep->view.progress().no_gain();
    if (no_gain) std::fputs(FittedLines(PrintableLines(NoGainText(*no_gain) + "\n"), OutputColumns(0)).c_str(), stdout);
    return kExitOk;
  }
  PrintedBestTrials printed{ObjectiveOf(*sweep), {}, {}, {}, sweep->file.sweep_id, sweep->dir, {}};
  for (std::size_t i = 0; i < points.size() && i < most; ++i) {
    printed.points.push_back(PrintedOf(*sweep, points[i]));
  }
  if (points.size() > 1) printed.second_differs = WelchTest(points[0].statistics(), points[1].statistics());
  if (second) printed.second_objective = {second->metric, second->maximize};
  for (const TrialFacts& trial : trials) printed.trials.push_back(trial.Printed(trial.State()));
  std::printf("%s\n", JsonOf<PartForms>(printed, 2).c_str());
  return kExitOk;
}

}  // namespace

std::string BestSchema() { return SchemaOf<PartForms>(PrintedBestTrials()); }

std::function<int()> SetupBest(CLI::App& app, const Invocation&) {
  auto options = std::make_shared<BestOptions>();
  AddSweepArgument(app, options->sweep);
  app.add_option("-n,--number", options->most,
                 "number of trials (default: 1; of two objectives all of the Pareto front)")
      ->type_name("N")
      ->check([](const std::string& text) {
        return ParseNumber<std::uint64_t>(text).value_or(0) > 0 ? "" : Quoted(text) + " is not a number from 1 on";
      });
  AddWhereOption(app, options->where, "trials");
  app.add_flag("--json", options->json, "print JSON for programs");
  return [options] { return RunBest(*options); };
}

}  // namespace muster
