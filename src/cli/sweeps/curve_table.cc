#include "cli/sweeps/curve_table.h"

#include <cstdint>
#include <set>
#include <utility>
#include <vector>

#include "cli/lookup/run_facts.h"
#include "cli/lookup/run_or_sweep.h"
#include "cli/lookup/trial_facts.h"
#include "run/directory/metric_history.h"
#include "run/journal/run_summary.h"
#include "run/metrics/log_history.h"
#include "sweep/trial/trial_history.h"

namespace muster {
namespace {

// A run, or a trial with its number and id.
struct Curves {
  std::vector<Value> head;
  Value::Map parameters;
  std::vector<ProcessHistory> processes;
};
using TakeCurves = std::function<bool(const Curves&)>;
using ForEachCurves = std::function<Result<void>(const TakeCurves&)>;

Curves CurvesOfTrial(const OpenedSweep& sweep, const TrialFacts& trial) {
  return {{trial.Of("trial"), trial.Of("id")},
          trial.row().point,
          ReadTrialHistory(trial.RunDirs(), sweep.file.metrics, sweep.file.resource, !trial.row().ended.empty())};
}

struct CurveColumns {
  std::set<std::string> parameters;
  std::set<std::string> metrics;
};

// `heads`: of Curves::head.
TableRows CurveRowsOf(const CurveColumns& columns, std::vector<std::string> heads, TableChoice::Form form) {
  heads.insert(heads.end(), {"role", "index", "report"});
  for (const std::string& name : columns.parameters) heads.push_back("param." + name);
  for (const std::string& name : columns.metrics) heads.push_back("metric." + name);
  return {form, std::move(heads)};
}

// A whole number is one in every format.
Value ReportedNumber(double number) {
  constexpr double kExact = 1LL << 53;
  const bool whole =
      number >= -kExact && number <= kExact && number == static_cast<double>(static_cast<std::int64_t>(number));
  return whole ? Value(static_cast<std::int64_t>(number)) : Value(number);
}

// The rows of one process; false if `put` stopped.
bool PutProcess(const Curves& curves, const ProcessHistory& process, const CurveColumns& columns, const TableRows& rows,
                const std::function<bool(std::string_view bytes)>& put) {
  std::vector<Value> cells = curves.head;
  cells.push_back(process.role.empty() ? Value() : Value(process.role));
  cells.push_back(process.role.empty() ? Value() : Value(std::int64_t{process.index}));
  const std::size_t report_at = cells.size();
  cells.emplace_back();
  for (const std::string& name : columns.parameters) {
    const auto value = curves.parameters.find(name);
    cells.push_back(value == curves.parameters.end() ? Value() : value->second);
  }
  struct Metric {
    const MetricColumn* column;  // null: never reported
    std::size_t next = 0;
  };
  std::vector<Metric> metrics;
  for (const std::string& name : columns.metrics) {
    const auto column = process.history.columns.find(name);
    metrics.push_back({column == process.history.columns.end() ? nullptr : &column->second});
  }
  const std::size_t metrics_at = cells.size();
  cells.resize(metrics_at + metrics.size());
  for (std::uint32_t report = 0; report < process.history.reports; ++report) {
    cells[report_at] = Value(std::int64_t{report} + 1);
    bool any = false;
    for (std::size_t i = 0; i < metrics.size(); ++i) {
      Metric& metric = metrics[i];
      const bool has = metric.column != nullptr && metric.next < metric.column->reports.size() &&
                       metric.column->reports[metric.next] == report;
      cells[metrics_at + i] = has ? ReportedNumber(metric.column->values[metric.next++]) : Value();
      any = any || has;
    }
    if (any && !put(rows.Row(cells))) return false;
  }
  return true;
}

Result<void> WriteEach(const ForEachCurves& for_each, CurveColumns columns, std::vector<std::string> heads,
                       TableChoice::Form form, const std::function<bool(std::string_view bytes)>& put) {
  auto known = for_each([&](const Curves& curves) {
    for (const auto& [name, unused] : curves.parameters) columns.parameters.insert(name);
    for (const ProcessHistory& process : curves.processes) {
      for (const auto& [name, unused] : process.history.columns) columns.metrics.insert(name);
    }
    return true;
  });
  if (!known) return known;
  const TableRows rows = CurveRowsOf(columns, std::move(heads), form);
  if (const std::string head = rows.Head(); !head.empty() && !put(head)) return {};
  return for_each([&](const Curves& curves) {
    for (const ProcessHistory& process : curves.processes) {
      if (!PutProcess(curves, process, columns, rows, put)) return false;
    }
    return true;
  });
}

}  // namespace

Result<void> WriteCurves(const std::string& run_or_sweep, const TableChoice& choice,
                         const std::function<bool(std::string_view bytes)>& put) {
  const auto found = FindRunOrSweep(run_or_sweep, DirectoryUse::kRead, Prefer::kNewest);
  if (!found) return Fail(found.error());
  if (!found->is_sweep) {
    if (!choice.where.empty()) {
      return Fail(Error("usage", {}, "--where chooses trials of a sweep, and this is a run", "muster export SWEEP"));
    }
    auto summary = SummarizeRun(found->folder, false);
    if (!summary) return Fail(summary.error());
    const bool over = summary->outcome != "running";
    RunFacts facts(*std::move(summary));
    Curves curves{{}, facts.Parameters(), ReadRoleHistories(found->folder)};
    if (auto log = ReadOwnLogHistory(found->folder, over, curves.processes))
      curves.processes.push_back(*std::move(log));
    const ForEachCurves one = [&](const TakeCurves& take) -> Result<void> {
      take(curves);
      return {};
    };
    return WriteEach(one, {}, {}, choice.form, put);
  }
  const auto sweep = OpenSweepAt(found->folder);
  if (!sweep) return Fail(sweep.error());
  const ForEachCurves trials = [&](const TakeCurves& take) {
    return ForEachRow(*sweep, choice, [&](const TrialFacts& trial) { return take(CurvesOfTrial(*sweep, trial)); });
  };
  return WriteEach(trials, {{sweep->file.names.begin(), sweep->file.names.end()}, {}}, {"trial", "id"}, choice.form,
                   put);
}

}  // namespace muster
