// What the commands that look at a sweep know of it, and of each of its trials by name. Reads the sweep's directory.
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
  bool live = false;  // a muster is at it

  // "running", "complete", "left" or "lost": its head died.
  std::string State() const;
  // "accuracy", or "loss".
  std::string ValueName() const;
};
// For programs: the objective, how many trials ended in each way, and the best trial; null for nothing.
nlohmann::json ObjectiveJson(const OpenedSweep& sweep);
nlohmann::json ClassesJson(const SweepAccount& account);
nlohmann::json BestJson(const OpenedSweep& sweep);

// Reports an index that could not be used.
void WarnOfDamage(const SweepView& view, const std::string& sweep_dir);

// The sweep that the user named; an index that cannot be used is reported.
Result<OpenedSweep> OpenSweep(const std::string& sweep);
Result<OpenedSweep> OpenSweepAt(const std::string& sweep_dir);

class TrialFacts {
 public:
  TrialFacts(const OpenedSweep& sweep, AttemptRow row) : sweep_(&sweep), row_(std::move(row)) {}

  const AttemptRow& row() const { return row_; }
  // How the trial ended (its class), "running", "again" (it failed and is tried again), "interrupted", or "lost": it
  // was running when the head died.
  std::string State() const;
  // How this attempt ended, whatever became of the trial: its class, "running", "interrupted" or "lost".
  std::string AttemptState() const;
  // "checkpoints/step_30 of attempt 1": what it goes on from, below the run directory of that attempt; empty: nothing.
  std::string FromText() const;
  std::string RunDir() const;

  // Of a fact of the trial's line (trial, id, state, attempt, value, loss, started, ended, took, hosts, blamed, why,
  // run, plan, dir, tags), else a swept value, a tag of the run (true for a word) or a metric, in this order;
  // param.NAME, tag.NAME and metric.NAME are those alone, and `tag` is a list of all tags. Null if the trial has none.
  Value Of(const std::string& name) const;
  void AddNames(std::set<std::string>& names) const;
  // The names of the line, in the order in which they are exported.
  static const std::vector<std::string>& LineNames();
  // `state`: State() or AttemptState().
  nlohmann::json Json(const std::string& state) const;

 private:
  const Value::Map& Tags() const;
  Value OfLine(const std::string& name) const;

  const OpenedSweep* sweep_;
  AttemptRow row_;
  mutable std::optional<Value::Map> tags_;  // read when they are asked for
};

}  // namespace muster
