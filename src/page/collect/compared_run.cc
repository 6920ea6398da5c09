#include "page/collect/compared_run.h"

#include <utility>

#include <fmt/format.h>

#include "muster/plan.h"
#include "page/collect/curves.h"
#include "page/collect/row_tags.h"
#include "page/collect/sweep_analysis.h"
#include "run/journal/journal.h"
#include "run/metrics/log_patterns.h"
#include "run/report/report.h"

namespace muster {
Result<void> AddComparedRun(const std::string& run_dir, PageContent& page) {
  const auto report = MakeReport(run_dir);
  if (!report) return Fail(report.error());
  const auto recorded = ReadRun(run_dir);
  if (!recorded) return Fail(recorded.error());
  const Plan& plan = *recorded->plan;
  const std::size_t source = page.sources.size();
  const std::string began = recorded->journal.records().empty() ? "" : recorded->journal.records().front().wall;

  const std::size_t row = AddRow(page, fmt::format("{}:", source));
  for (const auto& [name, value] : plan.params) {
    Put(page, OwnName(page, name, "param"), "param", CellValue(value), name);
    AddDifference(page, source, name, CellValue(value));
  }
  AddDifference(page, source, "hosts", CountValue(plan.hosts.size()));
  AddDifference(page, source, "processes", CountValue(plan.processes.size()));
  AddDifference(page, source, "plan", TextValue(report->plan.substr(0, 16)));
  if (report->code.seen) AddDifference(page, source, "git commit", TextValue(report->code.seen->commit.substr(0, 12)));
  Put(page, "trial", "fact", Value());
  Put(page, "state", "fact", TextValue(report->outcome));
  Put(page, "took", "fact", Value(report->timings.total));
  ColumnOf(page, "took", "fact").seconds = true;
  Put(page, "why", "fact", report->why.empty() ? Value() : TextValue(report->why));
  Put(page, "id", "fact", TextValue(report->run));
  PutTags(run_dir, page);
  for (const RoleMetrics& metrics : report->metrics) {
    for (const auto& [name, value] : metrics.last) {
      PageColumn& column = ColumnOf(page, OwnName(page, name, "metric"), "metric", name);
      if (column.values[row].IsNull()) column.values[row] = CellValue(value);
    }
  }
  auto roles = ReadRoleHistories(run_dir);
  if (auto log = ReadOwnLogHistory(run_dir, report->outcome != "running", roles)) roles.push_back(*std::move(log));
  CurveReader(page, kMostCurvePoints, "", "").AddRoles(row, roles);
  page.live = page.live || report->outcome == "running";
  page.sources.emplace_back(Value::Map{{"kind", Value("run")},
                                       {"name", TextValue(report->name)},
                                       {"id", TextValue(report->run)},
                                       {"dir", TextValue(report->run_dir)},
                                       {"state", TextValue(report->outcome)},
                                       {"why", TextValue(report->why)},
                                       {"began", TextValue(began)},
                                       {"seconds", Value(report->timings.total)}});
  return {};
}

}  // namespace muster
