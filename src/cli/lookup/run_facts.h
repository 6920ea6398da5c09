// Properties of runs and of trials of sweeps by name, as conditions, columns and exports use them. Reads files of run
// and sweep directories, each at most once, and only when needed.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "cli/lookup/run_list.h"
#include "muster/result.h"
#include "muster/value.h"
#include "run/journal/run_summary.h"
#include "sweep/index/sweep_view.h"
#include "sweep/record/sweep_directory.h"
#include "wire/archive/json_fields.h"

namespace muster {

// Properties of a run by name: its summary, parameters, derived values, tags and metrics. Reads files of run
// directories, each at most once, and only when needed.
class RunFacts {
 public:
  explicit RunFacts(RunSummary summary) : summary_(std::move(summary)) {}

  const RunSummary& summary() const { return summary_; }

  // A property of the run's summary (name, run or id, plan, started, took, outcome, exit, why, dir, tags, note), else a
  // parameter, a derived value, a tag (true for a word) or a metric (of the first role that has it), in this order;
  // param.NAME, derived.NAME, tag.NAME, metric.NAME and metric.ROLE.NAME select one of these, and `tag` is a list of
  // all tags. Otherwise `kept` is the share of its device time that was productive and is kept (run/report/ledger.h).
  // Null if the run has no such value.
  Value Of(const std::string& name);
  bool Has(const std::string& name);
  // Adds all available names.
  void AddNames(std::set<std::string>& names);
  // The values of the recipe's parameters.
  const std::map<std::string, Value>& Parameters() { return Planned(false); }
  // The latest values, "worker.loss".
  const std::map<std::string, Value>& Metrics();

 private:
  const Value* Find(const std::string& name);
  const std::map<std::string, Value>& Line();
  const std::map<std::string, Value>& Planned(bool derived);
  const std::map<std::string, Value>& Tags();
  const Value* Metric(const std::string& name);
  const Value* Kept();

  RunSummary summary_;
  std::optional<Value> tag_list_, kept_;
  std::optional<std::map<std::string, Value>> line_, params_, derived_, tags_, metrics_;
};

// Properties of a sweep, and of each of its trials by name. Reads the sweep's directory.

struct OpenedSweep {
  std::string dir;
  SweepFile file;
  SweepView view;
  bool live = false;  // a head is active

  // "running", "complete", "stopped" or "lost": its head was killed.
  std::string State() const;
  // "accuracy", or "loss".
  std::string ValueName() const;
};
// For programs, members in the order of their names: the objective, the number of trials by outcome, and the best
// trial.
struct PrintedObjective {
  std::string metric;
  bool maximize = false;

  bool operator==(const PrintedObjective&) const = default;
};
template <class V>
void Parts(V& v, const PrintedObjective& objective) {
  v("maximize", objective.maximize), v("metric", objective.metric);
}
std::optional<PrintedObjective> ObjectiveOf(const OpenedSweep& sweep);

std::map<std::string, std::uint64_t> ClassesOf(const SweepProgress& progress);

struct PrintedBest {
  std::uint64_t trial = 0;
  std::uint64_t attempt = 1;  // from 1
  std::string id;             // empty: not printed
  double value = 0;
  Value::Map point;
};
template <class V>
void Parts(V& v, const PrintedBest& best) {
  v("attempt", best.attempt), v("id", As<UnlessNone>(best.id)), v("point", best.point), v("trial", best.trial);
  v("value", best.value);
}
PrintedBest BestOf(const std::optional<Objective>& objective, const BestTrial& best, bool with_id = true);
std::optional<PrintedBest> BestOf(const OpenedSweep& sweep);

// Warns about an index that could not be used.
void WarnOfDamage(const SweepView& view, const std::string& sweep_dir);

// The named sweep; warns about an index that cannot be used.
Result<OpenedSweep> OpenSweep(const std::string& sweep);
Result<OpenedSweep> OpenSweepAt(const std::string& sweep_dir);

// A trial or an attempt as it is printed as JSON, members in the order of their names.
struct PrintedResumption {
  std::uint64_t attempt = 1;  // from 1
  std::string checkpoint;
};
template <class V>
void Parts(V& v, const PrintedResumption& resumed) {
  v("attempt", resumed.attempt), v("checkpoint", resumed.checkpoint);
}
struct PrintedTrial {
  std::uint64_t trial = 0;
  std::uint64_t attempt = 1;  // from 1
  std::string id;
  std::string state;
  std::optional<PrintedResumption> resumed;
  Value::Map point;
  std::optional<double> value;
  std::optional<double> loss;
  Value::Map metrics;
  std::string started;
  std::string ended;  // these may be empty: null
  std::string blamed;
  std::string warning;  // these two likewise
  std::string why;
  std::string note;
  std::optional<double> seconds;
  std::vector<std::string> hosts;
  std::string run;
  std::string plan;
  std::string run_dir;
  std::vector<std::string> run_dirs;
  std::vector<std::string> tags;
  std::optional<Value::Map> columns;  // those that were asked for
};
template <class V>
void Parts(V& v, const PrintedTrial& trial) {
  v("attempt", trial.attempt), v("blamed", As<NullIfNone>(trial.blamed));
  v("columns", OnlyIf(trial.columns.has_value(), trial.columns)), v("ended", As<NullIfNone>(trial.ended));
  v("hosts", trial.hosts), v("id", trial.id), v("metrics", trial.metrics), v("note", As<NullIfNone>(trial.note));
  v("objective.loss", trial.loss), v("plan", trial.plan), v("point", trial.point), v("resumed", trial.resumed);
  v("run", trial.run), v("run_dir", trial.run_dir), v("run_dirs", trial.run_dirs), v("seconds", trial.seconds);
  v("started", trial.started), v("state", trial.state), v("tags", trial.tags), v("trial", trial.trial);
  v("value", trial.value), v("warning", As<UnlessNone>(trial.warning)), v("why", As<NullIfNone>(trial.why));
}

// A point of a sweep that repeats its points, as it is printed as JSON.
struct PrintedGroup {
  double deviation = 0;
  Value::Map point;
  bool ranked = false;
  std::uint64_t results = 0;
  std::vector<std::uint64_t> trials;
  std::optional<double> value;

  bool operator==(const PrintedGroup&) const = default;
};
template <class V>
void Parts(V& v, const PrintedGroup& group) {
  v("deviation", group.deviation), v("point", group.point), v("ranked", group.ranked), v("results", group.results);
  v("trials", group.trials), v("value", group.value);
}
PrintedGroup PrintedOf(const OpenedSweep& sweep, const PointGroup& group);
// A table of the points: how many repetitions have a result, the mean or median of these, their deviation, the point,
// and the trials.
void PrintGroups(const OpenedSweep& sweep, const std::vector<PointGroup>& groups);

class TrialFacts {
 public:
  TrialFacts(const OpenedSweep& sweep, AttemptRow row) : sweep_(&sweep), row_(std::move(row)) {}

  const AttemptRow& row() const { return row_; }
  std::string State() const { return row_.trial_standing.State(sweep_->live); }
  std::string AttemptState() const { return row_.AttemptState(sweep_->live); }
  // "checkpoints/step_30 of attempt 1": what it resumes from, below the run directory of that attempt; empty: nothing.
  std::string FromText() const;
  std::string RunDir() const;
  // Of the attempts that this one continues, and then RunDir().
  std::vector<std::string> RunDirs() const;

  // A property of the trial's summary (LineNames), else a swept value, a tag of the run (true for a word) or a metric,
  // in this order; param.NAME, tag.NAME and metric.NAME select one of these, and `tag` is a list of all tags. Null if
  // it has none.
  Value Of(const std::string& name) const;
  void AddNames(std::set<std::string>& names) const;
  // The names of the summary, in the order of exports.
  static const std::vector<std::string>& LineNames();
  // `state`: State() or AttemptState().
  PrintedTrial Printed(const std::string& state) const;

 private:
  const Value::Map& Tags() const;
  Value OfLine(const std::string& name) const;

  const OpenedSweep* sweep_;
  AttemptRow row_;
  mutable std::optional<Value::Map> tags_;  // read on first use
};

// --where for the trials of a sweep: which of them conditions select, and whether their names and values make sense for
// any. Reads the facts of the trials that it is given.
class TrialConditions {
 public:
  // `names`: what else the command uses of each trial.
  explicit TrialConditions(std::vector<RunCondition> conditions, std::vector<std::string> names = {})
      : conditions_(std::move(conditions)), names_(std::move(names)), asked_(conditions_.size()) {
    for (const RunCondition& condition : conditions_) names_.push_back(condition.name);
  }

  // Whether all conditions hold for the trial, which Check() then knows.
  bool HoldFor(const TrialFacts& trial);
  // After all trials of the sweep: fails if none of them has a value of one of the names, or if a condition cannot be
  // asked of any value. A sweep without trials fails nothing.
  [[nodiscard]] Result<void> Check() const;

 private:
  // What the trials so far have for a condition.
  struct Asked {
    bool can_be = false;
    Value example;
  };

  std::vector<RunCondition> conditions_;
  std::vector<std::string> names_;
  std::vector<Asked> asked_;
  std::set<std::string> known_;
  bool any_ = false;
};

}  // namespace muster
