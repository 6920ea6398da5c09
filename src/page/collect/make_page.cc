#include "page/collect/make_page.h"

#include <algorithm>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "base/system/clock.h"
#include "base/values/value_json.h"
#include "muster/plan.h"
#include "page/collect/run_page.h"
#include "page/collect/sweep_page.h"
#include "run/directory/run_metrics.h"
#include "run/journal/run_history.h"
#include "run/report/report.h"

namespace muster {
namespace {

// Adds a run as one row of a page that compares several: its parameters, last metrics and curves.

// Fails as MakeReport.
Result<void> AddComparedRun(const std::string& run_dir, PageContent& page) {
  const auto recorded = ReadRun(run_dir);
  if (!recorded) return Fail(recorded.error());
  const auto report = MakeReport(run_dir, *recorded);
  if (!report) return Fail(report.error());
  const Plan& plan = *recorded->plan;
  const std::size_t source = page.sources.size();
  const std::string began = recorded->history.first.wall;

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
  CurveReader(page, kMaxCurvePoints, "", "").AddRoles(row, roles);
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

// A short name for each source: its name, with the beginning of its id if others have the same name.
void LabelSources(PageContent& page) {
  std::multiset<std::string> names;
  for (const Value& source : page.sources) names.insert(TextField(source, "name"));
  for (Value& source : page.sources) {
    Value::Map map = *source.AsMap();
    const std::string name = TextField(source, "name");
    map["label"] = Value(names.count(name) > 1 ? name + " " + TextField(source, "id").substr(0, 4) : name);
    source = Value(std::move(map));
  }
}

// Which source each row is of.
void AddSourceColumn(PageContent& page) {
  PageColumn& column = ColumnOf(page, "source", "fact");
  for (std::size_t row = 0; row < page.keys.size(); ++row) {
    const std::size_t source = std::stoul(page.keys[row]);
    column.values[row] = Value(TextField(page.sources[source], "label"));
  }
  for (const Value& source : page.sources) column.choices.push_back(TextField(source, "label"));
}

std::string TitleOf(const PageContent& page) {
  std::string title;
  std::set<std::string> known;
  for (const Value& source : page.sources) {
    const std::string name = TextField(source, "name");
    if (known.insert(name).second) title += (title.empty() ? "" : ", ") + name;
  }
  return title;
}

}  // namespace

Result<PageContent> MakePage(const std::vector<NamedRunOrSweep>& folders) {
  PageContent page;
  page.made = UtcText(WallNowNs());
  const bool several = folders.size() > 1;
  page.kind = several ? "compare" : folders.front().is_sweep ? "sweep" : "run";
  for (const NamedRunOrSweep& one : folders) {
    const auto added = one.is_sweep ? AddSweep(one.folder, page)
                       : several    ? AddComparedRun(one.folder, page)
                                    : AddRun(one.folder, page);
    if (!added) return Fail(added.error());
  }
  LabelSources(page);
  if (several) AddSourceColumn(page);
  LimitCurves(page);
  FinishDifferences(page);
  page.title = TitleOf(page);
  return page;
}

}  // namespace muster
