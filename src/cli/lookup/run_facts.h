// Properties of runs and of trials of sweeps by name, as conditions, columns and exports use them. Reads files of run
// and sweep directories, each at most once, and only when needed.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "cli/lookup/run_list.h"
#include "muster/result.h"
#include "muster/value.h"
#include "run/journal/run_summary.h"
#include "sweep/index/sweep_view.h"
#include "sweep/record/sweep_directory.h"

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
  // all tags. Null if the run has no such value.
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

  RunSummary summary_;
  std::optional<Value> tag_list_;
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
// For programs: the objective, the number of trials by outcome, and the best trial; null for missing values.
nlohmann::json ObjectiveJson(const OpenedSweep& sweep);
nlohmann::json ClassesJson(const SweepProgress& progress);
nlohmann::json BestJson(const OpenedSweep& sweep);

// Warns about an index that could not be used.
void WarnOfDamage(const SweepView& view, const std::string& sweep_dir);

// The named sweep; warns about an index that cannot be used.
Result<OpenedSweep> OpenSweep(const std::string& sweep);
Result<OpenedSweep> OpenSweepAt(const std::string& sweep_dir);

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
  nlohmann::json Json(const std::string& state) const;

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
