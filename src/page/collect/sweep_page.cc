#include "page/collect/sweep_page.h"

#include <algorithm>
#include <cctype>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <fmt/format.h>

#include "base/system/clock.h"
#include "base/values/number_text.h"
#include "page/collect/curves.h"
#include "page/collect/row_tags.h"
#include "page/collect/space_axes.h"
#include "page/collect/sweep_analysis.h"
#include "page/collect/sweep_setup.h"
#include "run/directory/private_files.h"
#include "run/journal/journal.h"
#include "settings/values/value_json.h"
#include "sweep/index/sweep_view.h"
#include "sweep/record/sweep_directory.h"
#include "sweep/trial/trial_history.h"

namespace muster {
namespace {

constexpr std::size_t kMostSweepFile = std::size_t{64} << 20;

struct OpenSweep {
  std::string dir;
  std::size_t source = 0;
  SweepFile file;
  SweepView view;
  bool live = false;
  Value description = {};
  std::uint64_t began_ns = 0;
};

// The member "description" of sweep.json; null if there is none.
Value DescriptionOf(const std::string& sweep_dir) {
  const auto text = ReadFileAt(AT_FDCWD, sweep_dir + "/sweep.json", kMostSweepFile);
  const auto json = text ? ValueFromJsonText(*text) : tl::unexpected(std::string());
  if (!json) return {};
  const Value* description = FieldOf(*json, "description");
  return description == nullptr ? Value() : *description;
}

double SecondsSince(std::uint64_t began_ns, const std::string& utc) {
  const auto at = ParseUtc(utc);
  return at ? SecondsBetween(began_ns, *at) : 0;
}

std::string Joined(const std::vector<std::string>& texts) {
  std::string joined;
  for (const std::string& text : texts) joined += (joined.empty() ? "" : ",") + text;
  return joined;
}

// The devices that a run was given, "npu0" or "node1:npu0"; from its journal, read up to that record.
std::vector<std::string> DevicesOf(const std::string& run_dir) {
  std::vector<std::string> devices;
  ReadJournal(run_dir + "/journal.jsonl", [&](const JournalRecord& record) {
    const auto* bound = std::get_if<PlanBound>(&record.entry);
    if (bound == nullptr) return !std::holds_alternative<RunEnded>(record.entry);
    for (const HostBinding& host : bound->hosts) {
      for (const std::string& device : host.devices) {
        if (!device.empty()) devices.push_back(fmt::format("{}: {}", host.name, device));
      }
    }
    return false;
  });
  return devices;
}

void AddTrialRow(const OpenSweep& sweep, const AttemptRow& row, PageContent& page) {
  const auto fact = [&](const char* name, Value value) { Put(page, name, "fact", std::move(value)); };
  const auto text = [&](const char* name, const std::string& value) {
    fact(name, value.empty() ? Value() : TextValue(value));
  };
  AddRow(page, fmt::format("{}:{}", sweep.source, row.trial));
  fact("trial", CountValue(row.trial));
  for (const auto& [name, value] : row.point) {
    Put(page, OwnName(page, name, "param"), "param", CellValue(value), name);
  }
  const auto& objective = sweep.file.objective;
  const std::string metric = objective && !objective->metric.empty() ? objective->metric : "loss";
  Put(page, "value", "fact", row.loss ? Value(ObjectiveValue(objective, *row.loss)) : Value(), metric);
  fact("state", Value(row.trial_standing.State(sweep.live)));
  fact("took", row.ended.empty() ? Value() : Value(static_cast<double>(row.ms) / 1000));
  ColumnOf(page, "took", "fact").seconds = true;
  text("hosts", Joined(row.hosts));
  ColumnOf(page, "hosts", "fact").list = true;
  for (const auto& [name, value] : row.metrics) {
    if (name != metric) Put(page, OwnName(page, name, "metric"), "metric", CellValue(value), name);
  }
  const std::string run_dir = sweep.dir + "/" + TrialFolder(row.id, row.attempt);
  PutTags(run_dir, page);
  text("why", row.why);
  text("blamed", row.blamed);
  text("started", row.began);
  fact("attempt", CountValue(row.attempt + std::uint64_t{1}));
  text("id", row.id);
  text("run", row.run_id);
}

Value AttemptValue(const OpenSweep& sweep, const AttemptRow& row, std::size_t page_row) {
  Value::List devices;
  for (const std::string& device : DevicesOf(sweep.dir + "/" + TrialFolder(row.id, row.attempt))) {
    devices.push_back(TextValue(device));
  }
  const double from = SecondsSince(sweep.began_ns, row.began);
  return Value(Value::Map{{"row", CountValue(page_row)},
                          {"attempt", CountValue(row.attempt)},
                          {"from", Value(from)},
                          {"to", row.ended.empty() ? Value() : Value(from + static_cast<double>(row.ms) / 1000)},
                          {"class", Value(row.AttemptState(sweep.live))},
                          {"host", TextValue(Joined(row.hosts))},
                          {"devices", Value(std::move(devices))}});
}

Value CountsValue(const OpenSweep& sweep) {
  const TrialCounts counts = CountsOf(sweep.view.account(), sweep.live);
  return Value(Value::Map{{"possible", CountValue(counts.possible)},
                          {"over", CountValue(counts.over)},
                          {"failed", CountValue(counts.failed)},
                          {"running", CountValue(counts.running)},
                          {"waiting", CountValue(counts.waiting)},
                          {"impossible", CountValue(counts.impossible)}});
}

Result<void> AddTotals(const OpenSweep& sweep, Value::Map& source) {
  const auto rungs = sweep.view.Rungs();
  const auto reasons = sweep.view.Reasons();
  const auto quarantined = sweep.view.Quarantined();
  if (!rungs) return Fail(rungs.error());
  if (!reasons) return Fail(reasons.error());
  if (!quarantined) return Fail(quarantined.error());
  Value::List list;
  for (const auto& rung : *rungs) {
    list.emplace_back(
        Value::Map{{"rung", CountValue(rung.rung)},
                   {"resource", Value(rung.resource)},
                   {"trials", CountValue(rung.trials)},
                   {"stopped", CountValue(rung.stopped)},
                   {"best", rung.best ? Value(ObjectiveValue(sweep.file.objective, *rung.best)) : Value()}});
  }
  source["rungs"] = Value(std::exchange(list, {}));
  for (const auto& reason : *reasons) {
    list.emplace_back(Value::Map{
        {"text", TextValue(reason.text)}, {"place", TextValue(reason.place)}, {"count", CountValue(reason.count)}});
  }
  source["reasons"] = Value(std::exchange(list, {}));
  for (const auto& one : *quarantined) {
    list.emplace_back(
        Value::Map{{"host", TextValue(one.host)}, {"why", TextValue(one.why)}, {"at", TextValue(one.wall)}});
  }
  source["quarantined"] = Value(std::move(list));
  return {};
}

Result<Value::Map> SourceOf(const OpenSweep& sweep) {
  const SweepProgress& progress = sweep.view.account();
  const auto began = sweep.view.Began();
  const auto last = sweep.view.Last();
  if (!began) return Fail(began.error());
  if (!last) return Fail(last.error());
  Value::Map classes;
  for (std::size_t i = 0; i < kTrialClassNames.size(); ++i) {
    const std::uint64_t count = progress.count(static_cast<TrialClass>(i));
    if (count > 0) classes[std::string(kTrialClassNames[i])] = CountValue(count);
  }
  Value objective;
  if (sweep.file.objective) {
    objective = Value(Value::Map{{"metric", TextValue(sweep.file.objective->metric)},
                                 {"maximize", Value(sweep.file.objective->maximize)}});
  }
  Value best;
  if (const auto& found = progress.best()) {
    best = Value(Value::Map{{"trial", CountValue(found->trial)},
                            {"value", Value(ObjectiveValue(sweep.file.objective, found->loss))}});
  }
  const double seconds = SecondsSince(sweep.began_ns, sweep.live ? UtcText(WallNowNs()) : *last);
  const auto& ended = progress.ended();
  return Value::Map{{"kind", Value("sweep")},
                    {"name", TextValue(sweep.file.name)},
                    {"id", TextValue(sweep.file.sweep_id)},
                    {"dir", TextValue(sweep.dir)},
                    {"doc", TextValue(sweep.file.doc)},
                    {"state", Value(SweepState(progress, sweep.live))},
                    {"why", ended && !ended->complete ? TextValue(ended->why) : Value("")},
                    {"began", TextValue(*began)},
                    {"seconds", Value(seconds)},
                    {"trial_seconds", Value(static_cast<double>(progress.trial_ms()) / 1000)},
                    {"objective", std::move(objective)},
                    {"resource", TextValue(ResourceOf(sweep.description))},
                    {"counts", CountsValue(sweep)},
                    {"classes", Value(std::move(classes))},
                    {"best", std::move(best)}};
}

// What two sweeps can differ in, besides their results.
void AddDifferences(const OpenSweep& sweep, PageContent& page) {
  const auto add = [&](const std::string& name, const Value* value) {
    if (value != nullptr) AddDifference(page, sweep.source, name, CellValue(*value));
  };
  const Value trials(CountValue(sweep.view.account().trials()));
  add("trials", &trials);
  for (const char* name : {"objective", "sampler", "early_stop", "retry", "budget", "where"}) {
    add(name, FieldOf(sweep.description, name));
  }
  for (const auto& [name, axis] :
       SpaceAxes(FieldOf(sweep.description, "space") == nullptr ? Value() : *FieldOf(sweep.description, "space"))) {
    const Value text(axis.domain ? fmt::format("{:g} to {:g}", axis.domain->first, axis.domain->second)
                                 : ToText(Value(axis.choices)));
    add(name, &text);
  }
}

}  // namespace

Result<void> AddSweep(const std::string& sweep_dir, PageContent& page) {
  auto file = ReadSweepFile(sweep_dir);
  if (!file) return Fail(file.error());
  const bool live = IsRunLive(sweep_dir);
  auto view = SweepView::Open(sweep_dir);
  if (!view) return Fail(view.error());
  OpenSweep sweep{sweep_dir, page.sources.size(), *std::move(file), *std::move(view), live};
  sweep.description = DescriptionOf(sweep_dir);
  if (const auto began = sweep.view.Began()) sweep.began_ns = ParseUtc(*began).value_or(0);
  auto source = SourceOf(sweep);
  if (!source) return Fail(source.error());
  page.live = page.live || live;

  const std::size_t first = page.keys.size();
  std::map<TrialNumber, std::size_t> row_of;
  std::string trial_dir;  // of the first trial
  const std::string metric = sweep.file.objective ? sweep.file.objective->metric : "";
  CurveReader curves(page, CurvePoints(sweep.view.account().begun()), ResourceOf(sweep.description), metric);
  auto read = sweep.view.ForEachTrial(SweepView::Order::kNumber, [&](const AttemptRow& row) {
    AddTrialRow(sweep, row, page);
    row_of[row.trial] = page.keys.size() - 1;
    if (trial_dir.empty()) trial_dir = row.RunDirs(sweep.dir).back();
    curves.AddRoles(page.keys.size() - 1, ReadTrialHistory(row.RunDirs(sweep.dir), sweep.file.metrics,
                                                           sweep.file.resource, !live || !row.ended.empty()));
    return true;
  });
  if (!read) return read;
  read = sweep.view.ForEachAttempt([&](const AttemptRow& row) {
    const auto found = row_of.find(row.trial);
    if (found == row_of.end()) return true;
    page.attempts.push_back(AttemptValue(sweep, row, found->second));
    return true;
  });
  if (!read) return read;
  if (auto totals = AddTotals(sweep, *source); !totals) return totals;
  const Value* space = FieldOf(sweep.description, "space");
  const auto axes = SpaceAxes(space == nullptr ? Value() : *space);
  ScaleColumns(axes, page);
  const bool maximize = sweep.file.objective && sweep.file.objective->maximize;
  AddAnalysis(page, first, axes, maximize, *source);
  AddDifferences(sweep, page);
  (*source)["setup"] = SetupOf(sweep.dir, sweep.file, sweep.description, trial_dir);
  page.now = std::max(page.now, source->at("seconds").Number());
  page.sources.emplace_back(*std::move(source));
  return {};
}

}  // namespace muster
