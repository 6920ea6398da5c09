#include "page/collect/sweep_page.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <limits>
#include <set>

#include <fcntl.h>
#include <fmt/format.h>

#include "base/system/clock.h"
#include "base/system/private_files.h"
#include "base/values/number_text.h"
#include "base/values/quoting.h"
#include "base/values/text_parts.h"
#include "base/values/value_json.h"
#include "muster/plan.h"
#include "page/collect/importance.h"
#include "run/directory/run_metrics.h"
#include "run/directory/run_tags.h"
#include "run/journal/journal.h"
#include "run/report/report.h"
#include "space/sweep_description.h"
#include "sweep/index/sweep_view.h"
#include "sweep/record/failure_table.h"
#include "sweep/record/sweep_directory.h"
#include "sweep/record/sweep_status.h"
#include "sweep/record/trial_columns.h"
#include "wire/files/run_layout.h"

namespace muster {
namespace {

constexpr std::size_t kMaxDepth = 32;

// Numbers that were listed: several of them a constant factor apart, such as 1e-4, 1e-3, 1e-2 or 64, 128, 256.
bool IsGeometric(const std::vector<Value>& values) {
  std::vector<double> numbers;
  for (const Value& value : values) {
    if (!value.IsNumber() || value.Number() <= 0) return false;
    numbers.push_back(value.Number());
  }
  std::sort(numbers.begin(), numbers.end());
  return numbers.size() > 2 && numbers.back() / numbers.front() >= 8 &&
         (numbers[1] - numbers[0]) * 3 < numbers.back() - numbers[numbers.size() - 2];
}

void AddAxis(const Value& axis, std::map<std::string, SpaceAxis>& axes) {
  const Value* name = FieldOf(axis, "name");
  const Value* kind = FieldOf(axis, "axis");
  if (name == nullptr || name->AsString() == nullptr || kind == nullptr || kind->AsString() == nullptr) return;
  SpaceAxis& added = axes[*name->AsString()];
  const std::string& of = *kind->AsString();
  if (const Value* values = FieldOf(axis, "values"); values != nullptr && values->AsList() != nullptr) {
    for (const Value& value : *values->AsList()) {
      if (std::find(added.choices.begin(), added.choices.end(), value) == added.choices.end()) {
        added.choices.push_back(value);
      }
    }
    added.log = added.log || IsGeometric(added.choices);
    return;
  }
  const Value* low = FieldOf(axis, "low");
  const Value* high = FieldOf(axis, "high");
  if (low == nullptr || high == nullptr || !low->IsNumber() || !high->IsNumber()) return;
  added.log = of == "log_uniform" || of == "int_log_uniform";
  added.whole = of == "int_log_uniform";
  if (const Value* step = FieldOf(axis, "step"); step != nullptr && of == "range") {
    added.whole =
        step->IsNumber() && step->Number() == std::floor(step->Number()) && low->Number() == std::floor(low->Number());
  }
  std::pair<double, double> domain(low->Number(), high->Number());
  if (added.domain) {  // of another part of a union
    domain.first = std::min(domain.first, added.domain->first);
    domain.second = std::max(domain.second, added.domain->second);
  }
  if (domain.first <= domain.second) added.domain = domain;
}

void Walk(const Value& space, std::size_t depth, std::map<std::string, SpaceAxis>& axes) {
  const Value* kind = FieldOf(space, "kind");
  if (depth > kMaxDepth || kind == nullptr) return;
  if (*kind == Value("axis")) AddAxis(space, axes);
  if (const Value* parts = FieldOf(space, "parts"); parts != nullptr && parts->AsList() != nullptr) {
    for (const Value& part : *parts->AsList()) Walk(part, depth + 1, axes);
  }
}

}  // namespace

std::map<std::string, SpaceAxis> SpaceAxes(const Value& space) {
  std::map<std::string, SpaceAxis> axes;
  Walk(space, 0, axes);
  return axes;
}

namespace {

constexpr std::size_t kMaxChoices = 12;  // distinct numbers that count as choices if the space does not say

const PageColumn* Find(const PageContent& page, const std::string& name) {
  const auto found = std::find_if(page.columns.begin(), page.columns.end(),
                                  [&](const PageColumn& column) { return column.name == name; });
  return found == page.columns.end() ? nullptr : &*found;
}

// The parameters of the rows with a result, and their losses.
struct Sample {
  std::vector<ImportanceAxis> axes;
  std::vector<std::vector<std::string>> texts;  // by axis, of its choices
  std::vector<double> losses;
};

// Adds the parameter if it varies.
void AddParameter(const PageColumn& column, const std::vector<std::size_t>& rows, const SpaceAxis* in_space,
                  Sample& sample) {
  std::set<double> numbers;
  std::set<std::string> texts;
  bool numeric = true;
  for (const std::size_t row : rows) {
    const Value& value = column.values[row];
    if (value.IsNull()) continue;
    numeric = numeric && value.IsNumber();
    if (value.IsNumber()) numbers.insert(value.Number());
    texts.insert(PlainText(value));
  }
  if (texts.size() < 2) return;
  ImportanceAxis axis{.name = column.label};
  const bool has_domain = in_space != nullptr && in_space->domain.has_value();
  axis.choice = !numeric || (!has_domain && (in_space != nullptr || numbers.size() <= kMaxChoices));
  std::vector<std::string> choices;
  if (axis.choice) {
    if (in_space != nullptr) {
      for (const Value& value : in_space->choices) choices.push_back(PlainText(value));
    }
    for (const std::string& text : texts) {
      if (std::find(choices.begin(), choices.end(), text) == choices.end()) choices.push_back(text);
    }
    axis.choices = choices.size();
  } else {
    axis.low = *numbers.begin();
    axis.high = *numbers.rbegin();
    if (has_domain) {
      axis.low = std::min(axis.low, in_space->domain->first);
      axis.high = std::max(axis.high, in_space->domain->second);
    }
    axis.log = in_space != nullptr && in_space->log && axis.low > 0;
    axis.whole = in_space != nullptr && in_space->whole;
  }
  for (const std::size_t row : rows) {
    const Value& value = column.values[row];
    double number = std::numeric_limits<double>::quiet_NaN();
    if (!value.IsNull()) {
      number = axis.choice
                   ? static_cast<double>(std::find(choices.begin(), choices.end(), PlainText(value)) - choices.begin())
                   : value.Number();
    }
    axis.values.push_back(number);
  }
  sample.axes.push_back(std::move(axis));
  sample.texts.push_back(std::move(choices));
}

Value ImportanceOf(const Sample& sample) {
  if (sample.losses.size() < kMinTrials || sample.axes.empty() || !Vary(sample.losses)) return {};
  const auto effects = GridMeans(sample.axes, sample.losses);
  std::vector<double> shares = effects ? effects->shares : PedAnova(sample.axes, sample.losses);
  double sum = 0;
  for (const double share : shares) sum += share;
  if (sum <= 0) return {};
  std::vector<std::pair<double, std::string>> order;
  for (std::size_t i = 0; i < shares.size(); ++i) {
    order.emplace_back(effects ? shares[i] : shares[i] / sum, sample.axes[i].name);
  }
  if (effects) order.emplace_back(effects->interaction, "interactions");
  std::stable_sort(order.begin(), order.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
  Value::List parameters;
  for (const auto& [share, name] : order) {
    parameters.emplace_back(Value::Map{{"name", TextValue(name)}, {"share", Value(share)}});
  }
  return Value(Value::Map{{"method", Value(effects ? "means" : "ped-anova")},
                          {"gamma", Value(kTopShare)},
                          {"trials", CountValue(sample.losses.size())},
                          {"parameters", Value(std::move(parameters))}});
}

Value DistinctionOf(const Sample& sample) {
  Value::List list;
  for (const Distinction& one : Distinctions(sample.axes, sample.texts, sample.losses)) {
    list.emplace_back(
        Value::Map{{"name", TextValue(one.name)}, {"best", TextValue(one.best)}, {"all", TextValue(one.all)}});
  }
  if (list.empty()) return {};
  const std::size_t top = BestTrials(sample.losses).size();
  return Value(Value::Map{
      {"top", CountValue(top)}, {"of", CountValue(sample.losses.size())}, {"parameters", Value(std::move(list))}});
}

// Failures with the same class, and the same text except for numbers; the most frequent first.
Value CausesOf(const PageContent& page, std::size_t first) {
  struct Cause {
    std::string state, why;
    std::uint64_t trials = 0;
    Value first;
  };
  const PageColumn* state = Find(page, "state");
  const PageColumn* why = Find(page, "why");
  const PageColumn* trial = Find(page, "trial");
  std::vector<Cause> causes;
  std::map<std::pair<std::string, std::string>, std::size_t> places;
  for (std::size_t row = first; state != nullptr && row < page.keys.size(); ++row) {
    const auto failure = ParseTrialClass(PlainText(state->values[row]));
    if (!failure || !IsFailure(*failure)) continue;
    const std::string text = why == nullptr || why->values[row].IsNull() ? "" : PlainText(why->values[row]);
    std::string key = text;
    std::erase_if(key, IsDigit);
    const auto [place, is_new] = places.try_emplace({PlainText(state->values[row]), key}, causes.size());
    if (is_new) causes.push_back({place->first.first, text, 0, trial->values[row]});
    ++causes[place->second].trials;
  }
  std::stable_sort(causes.begin(), causes.end(), [](const auto& a, const auto& b) { return a.trials > b.trials; });
  Value::List list;
  for (Cause& cause : causes) {
    list.emplace_back(Value::Map{{"class", Value(cause.state)},
                                 {"why", TextValue(cause.why)},
                                 {"trials", CountValue(cause.trials)},
                                 {"first", std::move(cause.first)}});
  }
  return Value(std::move(list));
}

}  // namespace

Value PagePoints(const SweepProgress& progress, const std::optional<Objective>& objective) {
  const std::vector<PointGroup> groups = PointGroupsOf(progress);
  if (groups.empty()) return {};
  Value::List points;
  for (std::size_t i = 0; i < std::min(groups.size(), kMaxPageGroups); ++i) {
    const PointGroup& group = groups[i];
    Value::Map point;
    for (const auto& [name, value] : group.point) point.emplace(name, CellValue(value));
    Value::List trials;
    for (const TrialNumber trial : group.trials) trials.push_back(CountValue(trial));
    points.emplace_back(Value::Map{{"point", Value(std::move(point))},
                                   {"trials", Value(std::move(trials))},
                                   {"results", CountValue(group.losses.size())},
                                   {"value", group.loss ? Value(ObjectiveValue(objective, *group.loss)) : Value()},
                                   {"deviation", Value(group.deviation)},
                                   {"ranked", Value(group.ranked)}});
  }
  return Value(Value::Map{{"seed", TextValue(progress.seeds().param)},
                          {"count", CountValue(progress.seeds().count)},
                          {"median", Value(progress.seeds().median)},
                          {"total", CountValue(groups.size())},
                          {"points", Value(std::move(points))}});
}

std::string OwnName(const PageContent& page, const std::string& name, const std::string& role) {
  const PageColumn* known = Find(page, name);
  const bool taken = known != nullptr && known->role != role;
  return taken || IsTrialColumn(name) ? role + "." + name : name;
}

void ScaleColumns(const std::map<std::string, SpaceAxis>& axes, PageContent& page) {
  for (PageColumn& column : page.columns) {
    const auto found = axes.find(column.label);
    if (column.role != "param" || found == axes.end()) continue;
    const SpaceAxis& axis = found->second;
    column.log = column.log || axis.log;
    if (axis.domain) {
      column.domain = !column.domain ? *axis.domain
                                     : std::pair(std::min(column.domain->first, axis.domain->first),
                                                 std::max(column.domain->second, axis.domain->second));
    }
    for (const Value& value : axis.choices) {
      if (value.IsNumber()) continue;  // numbers have a place of their own
      const std::string text = PlainText(value);
      if (std::find(column.choices.begin(), column.choices.end(), text) == column.choices.end()) {
        column.choices.push_back(text);
      }
    }
  }
}

void AddAnalysis(const PageContent& page, std::size_t first, const std::map<std::string, SpaceAxis>& axes,
                 bool maximize, Value::Map& source) {
  source["causes"] = CausesOf(page, first);
  source["importance"] = Value();
  source["distinction"] = Value();
  const PageColumn* value = Find(page, "value");
  const PageColumn* state = Find(page, "state");
  if (value == nullptr || state == nullptr) return;
  Sample sample;
  std::vector<std::size_t> rows;
  for (std::size_t row = first; row < page.keys.size(); ++row) {
    const Value& result = value->values[row];
    // The results of stopped trials are those of other steps, and a running one has none yet.
    if (state->values[row] != Value(std::string(TrialClassName(TrialClass::kOk)))) continue;
    if (!result.IsNumber() || !std::isfinite(result.Number())) continue;
    rows.push_back(row);
    sample.losses.push_back(maximize ? -result.Number() : result.Number());
  }
  for (const PageColumn& column : page.columns) {
    const auto in_space = axes.find(column.label);
    if (column.role == "param") {
      AddParameter(column, rows, in_space == axes.end() ? nullptr : &in_space->second, sample);
    }
  }
  source["importance"] = ImportanceOf(sample);
  source["distinction"] = DistinctionOf(sample);
}

void AddDifference(PageContent& page, std::size_t source, const std::string& name, Value value) {
  auto found = std::find_if(page.differences.begin(), page.differences.end(),
                            [&](const Value& one) { return TextField(one, "name") == name; });
  if (found == page.differences.end()) {
    page.differences.emplace_back(Value::Map{{"name", TextValue(name)}, {"values", Value(Value::List{})}});
    found = page.differences.end() - 1;
  }
  Value::Map map = *found->AsMap();
  Value::List values = *map.at("values").AsList();
  values.resize(source);
  values.push_back(std::move(value));
  map["values"] = Value(std::move(values));
  *found = Value(std::move(map));
}

void FinishDifferences(PageContent& page) {
  for (Value& one : page.differences) {
    Value::Map map = *one.AsMap();
    Value::List values = *map.at("values").AsList();
    values.resize(page.sources.size());
    map["differ"] =
        Value(std::any_of(values.begin(), values.end(), [&](const Value& value) { return value != values[0]; }));
    map["values"] = Value(std::move(values));
    one = Value(std::move(map));
  }
  std::stable_partition(page.differences.begin(), page.differences.end(),
                        [](const Value& one) { return TruthField(one, "differ"); });
}

namespace {

// What was run: the part "Set-up" of the page of a sweep, as names and texts.

bool SaysNothing(const Value& value) {
  const std::string* text = value.AsString();
  return value.IsNull() || (text != nullptr && text->empty()) ||
         (value.AsList() != nullptr && value.AsList()->empty()) || (value.AsMap() != nullptr && value.AsMap()->empty());
}

// "asha, resource=step, min=1000": the kind first, then what else is given.
std::string ChoiceText(const Value& choice) {
  if (choice.AsMap() == nullptr) return PlainText(choice);
  std::string text = TextField(choice, "kind");
  for (const auto& [name, value] : *choice.AsMap()) {
    if (name == "kind" || SaysNothing(value)) continue;
    text += fmt::format("{}{}={}", text.empty() ? "" : ", ", name, PlainText(value));
  }
  return text;
}

std::string AxisText(const SpaceAxis& axis) {
  if (axis.domain) {
    return fmt::format("{:g} to {:g}{}{}", axis.domain->first, axis.domain->second, axis.whole ? ", whole numbers" : "",
                       axis.log ? ", logarithmic" : "");
  }
  std::string text;
  for (const Value& value : axis.choices) text += (text.empty() ? "" : ", ") + PlainText(value);
  return text;
}

// Of unions whose weights differ: "3, 1".
void ListWeights(const Value& space, std::size_t depth, std::vector<std::string>& texts) {
  constexpr std::size_t kMaxUnionDepth = 32;
  const Value* weights = FieldOf(space, "weights");
  if (weights != nullptr && weights->AsList() != nullptr && !weights->AsList()->empty()) {
    const Value::List& list = *weights->AsList();
    std::string text;
    for (const Value& weight : list) text += (text.empty() ? "" : ", ") + PlainText(weight);
    if (std::any_of(list.begin(), list.end(), [&](const Value& weight) { return weight != list.front(); })) {
      texts.push_back(std::move(text));
    }
  }
  const Value* parts = FieldOf(space, "parts");
  if (depth == kMaxUnionDepth || parts == nullptr || parts->AsList() == nullptr) return;
  for (const Value& part : *parts->AsList()) ListWeights(part, depth + 1, texts);
}

// [{name, value}] of the sweep in `dir`: its command, space, sampler, rules, budget, note, and, by a trial of it, the
// parameters that are not swept and the state of git. `description`: of sweep.json; what it does not say is left out.
// `trial_dir`: the run directory of that trial; empty: none has begun.
Value SetupOf(const std::string& dir, const SweepFile& file, const Value& description, const std::string& trial_dir) {
  Value::List setup;
  const auto add = [&](const std::string& name, const std::string& text) {
    if (text.empty()) return;
    setup.emplace_back(Value::Map{{"name", TextValue(name)}, {"value", TextValue(text)}});
  };
  std::string command = "muster sweep";
  for (const std::string& word : file.words) command += " " + ShellQuoted(word);
  add("command", command);
  add("in", file.cwd);
  if (file.objective) {
    add("objective", fmt::format("{} {}", file.objective->maximize ? "largest" : "smallest", file.objective->metric));
  }
  if (file.second_objective) {
    add("second objective",
        fmt::format("{} {}", file.second_objective->maximize ? "largest" : "smallest", file.second_objective->metric));
  }
  if (const Value* constraints = FieldOf(description, "constraints"); constraints != nullptr && constraints->AsList()) {
    for (const Value& each : *constraints->AsList()) add("constraint", TextField(each, "text"));
  }
  const Value* space = FieldOf(description, "space");
  for (const auto& [name, axis] : SpaceAxes(space == nullptr ? Value() : *space)) add("space: " + name, AxisText(axis));
  std::vector<std::string> weights;
  if (space != nullptr) ListWeights(*space, 0, weights);
  for (const std::string& text : weights) add("weights of a union", text);
  for (const auto& [member, name] :
       {std::pair("sampler", "sampler"), std::pair("where", "conditions"), std::pair("early_stop", "early stopping"),
        std::pair("retry", "retries"), std::pair("budget", "budget"), std::pair("stop_after", "end after")}) {
    const Value* choice = FieldOf(description, member);
    if (choice != nullptr && !SaysNothing(*choice)) add(name, ChoiceText(*choice));
  }
  if (!trial_dir.empty()) {
    if (const auto run = ReadRun(trial_dir)) {
      std::string fixed;
      for (const auto& [name, value] : run->plan->params) {
        const bool swept = std::find(file.names.begin(), file.names.end(), name) != file.names.end();
        if (!swept) fixed += fmt::format("{}{}={}", fixed.empty() ? "" : ", ", name, PlainText(value));
      }
      add("fixed parameters", fixed);
      add("git", GitText(run->history.code));
    }
  }
  add("tags", TagsText(TagValues(TagsOfRun(dir))));
  add("note", NoteOfRun(dir));
  return Value(std::move(setup));
}

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
  const auto text = ReadFileAt(AT_FDCWD, kSweepEntry.In(sweep_dir), kSweepEntry.most);
  const auto json = text ? ValueFromJsonText(*text) : tl::unexpected(std::string());
  if (!json) return {};
  const Value* description = FieldOf(*json, "description");
  return description == nullptr ? Value() : *description;
}

double SecondsSince(std::uint64_t began_ns, const std::string& utc) {
  const auto at = ParseUtc(utc);
  return at ? SecondsBetween(began_ns, *at) : 0;
}

// The devices that a run was given, "npu0" or "node1:npu0"; from its journal, read up to that record.
std::vector<std::string> DevicesOf(const std::string& run_dir) {
  std::vector<std::string> devices;
  ReadJournal(kJournalEntry.In(run_dir), [&](const JournalRecord& record) {
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
  const TrialCounts counts = CountsOf(sweep.view.progress(), sweep.live);
  return Value(Value::Map{{"possible", CountValue(counts.possible)},
                          {"over", CountValue(counts.over)},
                          {"failed", CountValue(counts.failed)},
                          {"running", CountValue(counts.running)},
                          {"waiting", CountValue(counts.waiting)},
                          {"impossible", CountValue(counts.impossible + counts.skipped)},
                          {"skipped", CountValue(counts.skipped)}});
}

Result<void> AddTotals(const OpenSweep& sweep, Value::Map& source) {
  const auto rungs = sweep.view.Rungs();
  const auto reasons = sweep.view.Reasons();
  const auto quarantined = sweep.view.Quarantined();
  if (!rungs) return Fail(rungs.error());
  if (!reasons) return Fail(reasons.error());
  if (!quarantined) return Fail(quarantined.error());
  FailureTable failures;
  if (sweep.view.progress().failed() > 0) {
    auto read = sweep.view.ForEachTrial(SweepView::Order::kNumber, [&](const AttemptRow& row) {
      if (row.trial_standing.over) failures.Add(row.trial, row.trial_class, row.hosts, row.point);
      return true;
    });
    if (!read) return read;
  }
  Value::List list;
  for (const FailureFinding& finding : failures.Findings()) list.push_back(TextValue(FindingText(finding)));
  source["findings"] = Value(std::exchange(list, {}));
  const auto& no_gain = sweep.view.progress().no_gain();
  source["no_gain"] = TextValue(no_gain ? NoGainText(*no_gain) : "");
  source["device_hours"] = TextValue(DeviceHoursText(DeviceHoursOf(sweep.view.progress(), sweep.file.budget)));
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
  const SweepProgress& progress = sweep.view.progress();
  const auto began = sweep.view.Began();
  const auto last = sweep.view.Last();
  if (!began) return Fail(began.error());
  if (!last) return Fail(last.error());
  Value::Map classes;
  for (const auto& [name, count] : StatesOfOver(progress)) classes[name] = CountValue(count);
  const auto objective_of = [](const std::optional<Objective>& one) {
    if (!one) return Value();
    return Value(Value::Map{{"metric", TextValue(one->metric)}, {"maximize", Value(one->maximize)}});
  };
  Value objective = objective_of(sweep.file.objective);
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
                    {"second_objective", objective_of(sweep.file.second_objective)},
                    {"resource", TextValue(ResourceOf(sweep.description))},
                    {"counts", CountsValue(sweep)},
                    {"points", PagePoints(progress, sweep.file.objective)},
                    {"classes", Value(std::move(classes))},
                    {"best", std::move(best)}};
}

// What two sweeps can differ in, besides their results.
void AddDifferences(const OpenSweep& sweep, PageContent& page) {
  const auto add = [&](const std::string& name, const Value* value) {
    if (value != nullptr) AddDifference(page, sweep.source, name, CellValue(*value));
  };
  const Value trials(CountValue(sweep.view.progress().trials()));
  add("trials", &trials);
  for (const char* name : {"objective", "second_objective", "constraints", "sampler", "early_stop", "retry", "budget",
                           "stop_after", "where"}) {
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
  CurveReader curves(page, CurvePoints(sweep.view.progress().begun()), ResourceOf(sweep.description), metric);
  auto read = sweep.view.ForEachTrial(SweepView::Order::kNumber, [&](const AttemptRow& row) {
    AddTrialRow(sweep, row, page);
    row_of[row.trial] = page.keys.size() - 1;
    if (trial_dir.empty()) trial_dir = row.RunDirs(sweep.dir).back();
    curves.AddRoles(page.keys.size() - 1, ReadContinuedHistory(row.RunDirs(sweep.dir), sweep.file.metrics,
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
