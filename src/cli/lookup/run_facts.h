// Properties of a run by name: its summary, parameters, derived values, tags and metrics. Reads files of run
// directories, each at most once, and only when needed.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "muster/result.h"
#include "muster/value.h"
#include "run/journal/run_summary.h"

namespace muster {

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

}  // namespace muster
