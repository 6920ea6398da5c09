#include "cli/lookup/run_facts.h"

#include <algorithm>
#include <string_view>

#include <fmt/format.h>

#include "base/values/number_text.h"
#include "base/values/quoting.h"
#include "base/values/text_parts.h"
#include "base/values/value_json.h"
#include "base/values/value_text.h"
#include "cli/command/command_output.h"
#include "cli/command/small_file.h"
#include "cli/lookup/run_argument.h"
#include "plan/text/plan_json.h"
#include "run/directory/run_tags.h"
#include "run/report/ledger_reader.h"
#include "sweep/record/trial_columns.h"
#include "wire/files/run_layout.h"

namespace muster {
namespace {

using Values = std::map<std::string, Value>;

constexpr std::string_view kKept = "kept";

// A member of the outer object of plan.json, which has its own line: the list of processes is not parsed.
Values PlanMember(const std::string& text, const std::string& name) {
  const std::string open = "\n \"" + name + "\": ";
  const std::size_t at = text.find(open);
  if (at == std::string::npos) return {};
  std::string_view line = std::string_view(text).substr(at + open.size());
  line = line.substr(0, line.find('\n'));
  if (line.ends_with(',')) line.remove_suffix(1);
  if (line.ends_with('}') && !ValueFromJsonText(line)) line.remove_suffix(1);  // the outer object's
  const auto value = ValueFromJsonText(line);
  return value && value->AsMap() != nullptr ? *value->AsMap() : Values();
}

}  // namespace

const Values& RunFacts::Line() {
  if (line_) return *line_;
  line_.emplace();
  const bool running = summary_.outcome == "running";
  *line_ = {{"name", summary_.name},
            {"run", summary_.run},
            {"id", summary_.run},
            {"plan", summary_.plan},
            {"dir", summary_.run_dir},
            {"started", summary_.started_at},
            {"outcome", summary_.outcome},
            {"why", summary_.why},
            {"tags", TagsText(Tags())},
            {"note", NoteOfRun(summary_.run_dir)},
            {"took", running ? Value() : Value(summary_.seconds)},
            {"exit", running ? Value() : Value(std::int64_t{summary_.exit_code})}};
  return *line_;
}

const Values& RunFacts::Planned(bool derived) {
  if (!params_) {
    const auto text = ReadSmallFile(kPlanEntry.In(summary_.run_dir), kPlanEntry.most);
    params_ = text ? PlanMember(*text, "params") : Values();
    derived_ = text ? PlanMember(*text, "derived") : Values();
  }
  return derived ? *derived_ : *params_;
}

const Values& RunFacts::Tags() {
  if (tags_) return *tags_;
  tags_ = TagValues(TagsOfRun(summary_.run_dir));
  return *tags_;
}

const Values& RunFacts::Metrics() {
  if (metrics_) return *metrics_;
  metrics_.emplace();
  const auto text = ReadSmallFile(kReportEntry.In(summary_.run_dir), kReportEntry.most);
  const auto report = text ? ValueFromJsonText(*text) : tl::unexpected(std::string());
  if (!report || report->AsMap() == nullptr) return *metrics_;
  const Value* roles = FieldOf(*report->AsMap(), "metrics");
  if (roles == nullptr || roles->AsList() == nullptr) return *metrics_;
  for (const Value& role : *roles->AsList()) {
    if (role.AsMap() == nullptr) continue;
    const Value* last = FieldOf(*role.AsMap(), "last");
    if (last == nullptr || last->AsMap() == nullptr) continue;
    for (const auto& [name, value] : *last->AsMap()) {
      metrics_->emplace(TextField(*role.AsMap(), "role") + "." + name, value);
    }
  }
  return *metrics_;
}

const Value* RunFacts::Metric(const std::string& name) {
  if (const Value* found = FieldOf(Metrics(), name)) return found;
  for (const auto& [key, value] : Metrics()) {
    if (std::string_view(key).substr(key.find('.') + 1) == name) return &value;
  }
  return nullptr;
}

const Value* RunFacts::Find(const std::string& name) {
  if (name.starts_with("param.")) return FieldOf(Planned(false), name.substr(6));
  if (name.starts_with("derived.")) return FieldOf(Planned(true), name.substr(8));
  if (name.starts_with("tag.")) return FieldOf(Tags(), name.substr(4));
  if (name.starts_with("metric.")) return Metric(name.substr(7));
  if (const Value* found = FieldOf(Line(), name)) return found;
  if (const Value* found = FieldOf(Planned(false), name)) return found;
  if (const Value* found = FieldOf(Planned(true), name)) return found;
  if (name == "tag") return &tag_list_.emplace(TagList(Tags()));
  if (const Value* found = FieldOf(Tags(), name)) return found;
  if (const Value* found = Metric(name)) return found;
  return name == kKept ? Kept() : nullptr;
}

const Value* RunFacts::Kept() {
  if (!kept_) {
    kept_.emplace();
    const auto run = ReadLedgerRun(summary_.run_dir);
    const Ledger ledger = run ? LedgersOf({&*run, 1}).front() : Ledger();
    if (ledger.Total() > 0) kept_ = Value(SecondsOf(ledger.Of(LedgerRow::kKept)) / SecondsOf(ledger.Total()));
  }
  return &*kept_;
}

Value RunFacts::Of(const std::string& name) {
  const Value* found = Find(name);
  return found == nullptr ? Value() : *found;
}

bool RunFacts::Has(const std::string& name) { return Find(name) != nullptr; }

void RunFacts::AddNames(std::set<std::string>& names) {
  for (const Values* values : {&Line(), &Planned(false), &Planned(true), &Tags()}) {
    for (const auto& [name, unused] : *values) names.insert(name);
  }
  names.insert("tag");
  names.insert(std::string(kKept));
  for (const auto& [name, unused] : Metrics()) names.insert(name.substr(name.find('.') + 1));
}

namespace {}  // namespace

std::string OpenedSweep::State() const { return SweepState(view.progress(), live); }

std::string OpenedSweep::ValueName() const {
  return file.objective && !file.objective->metric.empty() ? file.objective->metric : "loss";
}

std::optional<PrintedObjective> ObjectiveOf(const OpenedSweep& sweep) {
  const auto& objective = sweep.file.objective;
  if (!objective) return std::nullopt;
  return PrintedObjective{objective->metric, objective->maximize};
}

std::map<std::string, std::uint64_t> ClassesOf(const SweepProgress& progress) {
  const auto states = StatesOfOver(progress);
  return {states.begin(), states.end()};
}

PrintedBest BestOf(const std::optional<Objective>& objective, const BestTrial& best, bool with_id) {
  return {best.trial, std::uint64_t{best.attempt} + 1, with_id ? best.id : std::string(),
          ObjectiveValue(objective, best.loss), best.point};
}

std::optional<PrintedBest> BestOf(const OpenedSweep& sweep) {
  const auto& best = sweep.view.progress().best();
  return best ? std::optional(BestOf(sweep.file.objective, *best)) : std::nullopt;
}

PrintedGroup PrintedOf(const OpenedSweep& sweep, const PointGroup& group) {
  PrintedGroup printed{group.deviation, group.point, group.ranked, group.losses.size(), group.trials, {}};
  if (group.loss) printed.value = ObjectiveValue(sweep.file.objective, *group.loss);
  return printed;
}

void PrintGroups(const OpenedSweep& sweep, const std::vector<PointGroup>& groups) {
  const Repetitions& seeds = sweep.view.progress().seeds();
  std::vector<std::vector<std::string>> rows = {{"RESULTS", Printable(sweep.ValueName()), "±"}};
  for (const std::string& name : sweep.file.names) {
    if (name != seeds.param) rows.front().push_back(Printable(name));
  }
  rows.front().emplace_back("TRIALS");
  for (const PointGroup& group : groups) {
    std::vector<std::string>& row = rows.emplace_back();
    row.push_back(fmt::format("{} of {}", group.losses.size(), seeds.count));
    row.push_back(group.loss ? ShownNumber(ObjectiveValue(sweep.file.objective, *group.loss)) : "");
    row.push_back(group.losses.size() > 1 ? ShownNumber(group.deviation) : "");
    for (const std::string& name : sweep.file.names) {
      if (name == seeds.param) continue;
      const auto value = group.point.find(name);
      row.push_back(value == group.point.end() ? "" : Printable(ShownValue(value->second)));
    }
    row.push_back(fmt::format("{}", fmt::join(group.trials, ",")));
  }
  PrintTable(rows);
}

void WarnOfDamage(const SweepView& view, const std::string& sweep_dir) {
  if (view.damage().empty()) return;
  PrintDiagnostics({Warning(
      "sweep_index", {},
      fmt::format("the index of {} is damaged, and its journal was read instead: {}", Quoted(sweep_dir), view.damage()),
      "muster resume recreates it; index.sqlite may be removed at any time")});
}

Result<OpenedSweep> OpenSweepAt(const std::string& sweep_dir) {
  auto file = ReadSweepFile(sweep_dir);
  if (!file) return Fail(file.error());
  // Checked first: a head that exits in between counts as live.
  const bool live = IsRunLive(sweep_dir);
  auto view = SweepView::Open(sweep_dir);
  if (!view) return Fail(view.error());
  WarnOfDamage(*view, sweep_dir);
  return OpenedSweep{sweep_dir, *std::move(file), *std::move(view), live};
}

Result<OpenedSweep> OpenSweep(const std::string& sweep) {
  const auto dir = FindSweep(sweep);
  if (!dir) return Fail(dir.error());
  return OpenSweepAt(*dir);
}

std::string TrialFacts::FromText() const {
  std::string path = row_.resumed.checkpoint;
  if (path.empty()) return path;
  const std::string folder = "/" + TrialFolder(row_.id, row_.resumed.attempt) + "/";
  if (const std::size_t at = path.find(folder); at != std::string::npos) path = path.substr(at + folder.size());
  return fmt::format("{} of attempt {}", path, row_.resumed.attempt + 1);
}

const Value::Map& TrialFacts::Tags() const {
  if (!tags_) tags_ = TagValues(TagsOfRun(RunDir()));
  return *tags_;
}

std::string TrialFacts::RunDir() const { return sweep_->dir + "/" + TrialFolder(row_.id, row_.attempt); }

std::vector<std::string> TrialFacts::RunDirs() const { return row_.RunDirs(sweep_->dir); }

const std::vector<std::string>& TrialFacts::LineNames() {
  static const std::vector<std::string> names(kTrialColumns.begin(),
                                              std::find(kTrialColumns.begin(), kTrialColumns.end(), "tag"));
  return names;
}

Value TrialFacts::OfLine(const std::string& name) const {
  const bool over = !row_.ended.empty();
  if (name == "trial") return Value(static_cast<std::int64_t>(row_.trial));
  if (name == "id") return Value(row_.id);
  if (name == "state") return Value(State());
  if (name == "attempt") return Value(std::int64_t{row_.attempt} + 1);
  if (name == "value") return row_.loss ? Value(ObjectiveValue(sweep_->file.objective, *row_.loss)) : Value();
  if (name == kSignedObjective) return row_.loss ? Value(*row_.loss) : Value();
  if (name == "started") return Value(row_.began);
  if (name == "ended") return TextOrNull(row_.ended);
  if (name == "took") return over ? Value(static_cast<double>(row_.ms) / 1000) : Value();
  if (name == "hosts") return TextOrNull(Joined(row_.hosts));
  if (name == "blamed") return TextOrNull(row_.blamed);
  if (name == "why") return TextOrNull(row_.why);
  if (name == "run") return Value(row_.run_id);
  if (name == "plan") return Value(row_.plan);
  if (name == "dir") return Value(RunDir());
  if (name == "tags") return TextOrNull(TagsText(Tags()));
  if (name == "note") return TextOrNull(NoteOfRun(RunDir()));
  return {};
}

Value TrialFacts::Of(const std::string& name) const {
  const auto found = [](const Value* value) { return value == nullptr ? Value() : *value; };
  if (name.starts_with("param.")) return found(FieldOf(row_.point, name.substr(6)));
  if (name.starts_with("metric.")) return found(FieldOf(row_.metrics, name.substr(7)));
  if (name.starts_with("tag.")) return found(FieldOf(Tags(), name.substr(4)));
  const std::vector<std::string>& line = LineNames();
  if (std::find(line.begin(), line.end(), name) != line.end()) return OfLine(name);
  if (const Value* value = FieldOf(row_.point, name)) return *value;
  if (name == "tag") return TagList(Tags());
  if (const Value* value = FieldOf(Tags(), name)) return *value;
  return found(FieldOf(row_.metrics, name));
}

void TrialFacts::AddNames(std::set<std::string>& names) const {
  names.insert(LineNames().begin(), LineNames().end());
  names.insert("tag");
  for (const Value::Map* values : {&row_.point, &row_.metrics, &Tags()}) {
    for (const auto& [name, unused] : *values) names.insert(name);
  }
}

PrintedTrial TrialFacts::Printed(const std::string& state) const {
  PrintedTrial trial;
  trial.trial = row_.trial;
  trial.attempt = std::uint64_t{row_.attempt} + 1;
  trial.id = row_.id;
  trial.state = state;
  if (!row_.resumed.checkpoint.empty())
    trial.resumed = {std::uint64_t{row_.resumed.attempt} + 1, row_.resumed.checkpoint};
  trial.point = row_.point;
  if (row_.loss) trial.value = ObjectiveValue(sweep_->file.objective, *row_.loss);
  trial.loss = row_.loss;
  trial.metrics = row_.metrics;
  trial.started = row_.began;
  trial.ended = row_.ended;
  trial.blamed = row_.blamed;
  trial.warning = row_.warning;
  trial.why = row_.why;
  trial.note = NoteOfRun(RunDir());
  if (!row_.ended.empty()) trial.seconds = static_cast<double>(row_.ms) / 1000;
  trial.hosts = row_.hosts;
  trial.run = row_.run_id;
  trial.plan = row_.plan;
  trial.run_dir = RunDir();
  trial.run_dirs = RunDirs();
  const Value tags = TagList(Tags());
  for (const Value& tag : *tags.AsList()) trial.tags.push_back(*tag.AsString());
  return trial;
}

bool TrialConditions::HoldFor(const TrialFacts& trial) {
  any_ = true;
  if (!names_.empty()) trial.AddNames(known_);
  bool hold = true;
  for (std::size_t i = 0; i < conditions_.size(); ++i) {
    const RunCondition& condition = conditions_[i];
    const Value value = trial.Of(condition.name);
    if (!value.IsNull() && !asked_[i].can_be) {
      asked_[i].can_be = CanBeAsked(condition, value);
      asked_[i].example = value;
    }
    hold = hold && Holds(condition, [&](const std::string& name) { return trial.Of(name); });
  }
  return hold;
}

Result<void> TrialConditions::Check() const {
  for (const std::string& name : names_) {
    const bool prefixed = name.starts_with("param.") || name.starts_with("metric.");
    if (any_ && !known_.contains(prefixed ? name.substr(name.find('.') + 1) : name)) {
      return Fail(NoSuchColumn("trial", name, known_));
    }
  }
  for (std::size_t i = 0; i < conditions_.size(); ++i) {
    if (!asked_[i].can_be && !asked_[i].example.IsNull()) {
      return Fail(CannotBeCompared(conditions_[i], asked_[i].example));
    }
  }
  return {};
}

}  // namespace muster
