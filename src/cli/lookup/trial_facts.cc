#include "cli/lookup/trial_facts.h"

#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/values/shell_quote.h"
#include "cli/command/print_diagnostics.h"
#include "cli/lookup/run_argument.h"
#include "run/directory/run_note.h"
#include "run/directory/run_tags.h"
#include "settings/values/value_field.h"
#include "settings/values/value_json.h"
#include "sweep/record/trial_columns.h"

namespace muster {
namespace {

std::string Joined(const std::vector<std::string>& texts) {
  std::string joined;
  for (const std::string& text : texts) joined += (joined.empty() ? "" : ",") + text;
  return joined;
}

Value TextOrNull(const std::string& text) { return text.empty() ? Value() : Value(text); }

}  // namespace

std::string OpenedSweep::State() const { return SweepState(view.account(), live); }

std::string OpenedSweep::ValueName() const {
  return file.objective && !file.objective->metric.empty() ? file.objective->metric : "loss";
}

nlohmann::json ObjectiveJson(const OpenedSweep& sweep) {
  const auto& objective = sweep.file.objective;
  if (!objective) return nullptr;
  return {{"metric", Readable(objective->metric)}, {"maximize", objective->maximize}};
}

nlohmann::json ClassesJson(const SweepProgress& account) {
  nlohmann::json classes = nlohmann::json::object();
  for (std::size_t i = 0; i < kTrialClassNames.size(); ++i) {
    const std::uint64_t count = account.count(static_cast<TrialClass>(i));
    if (count > 0) classes[std::string(kTrialClassNames[i])] = count;
  }
  return classes;
}

nlohmann::json BestJson(const OpenedSweep& sweep) {
  const auto& best = sweep.view.account().best();
  if (!best) return nullptr;
  return {{"trial", best->trial},
          {"attempt", best->attempt + 1},
          {"id", best->id},
          {"value", ObjectiveValue(sweep.file.objective, best->loss)},
          {"point", ToJson(Value(best->point))}};
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

nlohmann::json TrialFacts::Json(const std::string& state) const {
  const auto text = [](const std::string& bytes) { return Readable(bytes); };
  nlohmann::json json = {{"trial", row_.trial},
                         {"id", row_.id},
                         {"state", state},
                         {"attempt", row_.attempt + 1},
                         {"resumed", nullptr},
                         {"point", ToJson(Value(row_.point))},
                         {"value", ToJson(OfLine("value"))},
                         {std::string(kSignedObjective), ToJson(OfLine(std::string(kSignedObjective)))},
                         {"metrics", ToJson(Value(row_.metrics))},
                         {"started", row_.began},
                         {"ended", ToJson(OfLine("ended"))},
                         {"seconds", ToJson(OfLine("took"))},
                         {"hosts", row_.hosts},
                         {"blamed", ToJson(OfLine("blamed"))},
                         {"why", ToJson(OfLine("why"))},
                         {"run", row_.run_id},
                         {"plan", row_.plan},
                         {"run_dir", text(RunDir())},
                         {"run_dirs", nlohmann::json::array()},
                         {"tags", ToJson(TagList(Tags()))},
                         {"note", ToJson(OfLine("note"))}};
  for (const std::string& dir : RunDirs()) json["run_dirs"].push_back(text(dir));
  if (!row_.resumed.checkpoint.empty()) {
    json["resumed"] = {{"attempt", row_.resumed.attempt + 1}, {"checkpoint", text(row_.resumed.checkpoint)}};
  }
  return json;
}

}  // namespace muster
