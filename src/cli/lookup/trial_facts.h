// Properties of a sweep, and of each of its trials by name. Reads the sweep's directory.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "muster/result.h"
#include "muster/value.h"
#include "sweep/index/sweep_view.h"
#include "sweep/record/sweep_directory.h"

namespace muster {

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
nlohmann::json ClassesJson(const SweepProgress& account);
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

}  // namespace muster
