// muster ls: lists runs and their outcomes, filtered and sorted by their properties; for sweeps the list of sweeps,
// the trials of one, and the comparison of several with the points that all of them tried.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/values/number_text.h"
#include "base/values/quoting.h"
#include "base/values/value_json.h"
#include "base/values/value_text.h"
#include "cli/command/command.h"
#include "cli/command/command_output.h"
#include "cli/command/printed_schemas.h"
#include "cli/command/small_file.h"
#include "cli/lookup/known_recipe.h"
#include "cli/lookup/run_argument.h"
#include "cli/lookup/run_facts.h"
#include "cli/lookup/run_list.h"
#include "muster/result.h"
#include "run/directory/run_tags.h"
#include "sweep/record/sweep_directory.h"
#include "wire/archive/json_fields.h"
#include "wire/archive/json_schema.h"

namespace muster {
namespace {

// muster ls for sweeps: the list of sweeps, and the trials of one.

struct Picked {
  std::vector<Value> keys;
  TrialNumber trial = 0;
};

// The selected trials, in order. Only the sort keys of each are kept in memory.
Result<std::vector<Picked>> Pick(const OpenedSweep& sweep, const ListChoice& choice,
                                 std::optional<std::uint64_t> limit) {
  const std::vector<std::string> wanted = choice.Names();
  TrialConditions conditions(choice.conditions, wanted);
  std::vector<Picked> picked;
  auto read = sweep.view.ForEachTrial(SweepView::Order::kNumber, [&](AttemptRow row) {
    const TrialFacts trial(sweep, std::move(row));
    if (!conditions.HoldFor(trial)) return true;
    Picked& one = picked.emplace_back();
    one.trial = trial.row().trial;
    for (const SortKey& key : choice.keys) one.keys.push_back(trial.Of(key.name));
    return !wanted.empty() || !limit || picked.size() < *limit;
  });
  if (!read) return Fail(std::move(read.error()));
  if (auto sound = conditions.Check(); !sound) return Fail(sound.error());
  std::stable_sort(picked.begin(), picked.end(),
                   [&](const Picked& a, const Picked& b) { return KeysComeBefore(choice.keys, a.keys, b.keys); });
  if (limit && picked.size() > *limit) picked.resize(*limit);
  return picked;
}

// The attempt that a trial keeps, which has begun.
Result<TrialFacts> KeptAttempt(const OpenedSweep& sweep, TrialNumber trial) {
  auto kept = sweep.view.KeptOf(trial);
  if (!kept) return Fail(std::move(kept.error()));
  if (*kept) return TrialFacts(sweep, **std::move(kept));
  return Fail(MachineError("sweep", fmt::format("the rows of trial {} are missing", trial)));
}

// Removes a column without any value; `from_end` counts from the last column, which is 0.
void LeaveOutIfEmpty(std::size_t from_end, std::vector<std::vector<std::string>>& rows) {
  const std::size_t column = rows.front().size() - 1 - from_end;
  const bool used = std::any_of(rows.begin() + 1, rows.end(), [&](const auto& row) { return !row[column].empty(); });
  if (used) return;
  for (std::vector<std::string>& row : rows) row.erase(row.begin() + static_cast<std::ptrdiff_t>(column));
}

Result<void> PrintTrialsJson(const OpenedSweep& sweep, const ListChoice& choice, const std::vector<Picked>& picked) {
  std::printf("{\"format\": 1, ");
  if (const auto groups = PointGroupsOf(sweep.view.progress()); !groups.empty()) {
    const char* before = "\"points\": [\n";
    for (const PointGroup& group : groups) {
      std::printf("%s %s", before, JsonOf<PartForms>(PrintedOf(sweep, group)).c_str());
      before = ",\n";
    }
    std::printf("\n], ");
  }
  std::printf("\"sweep\": %s, \"sweep_dir\": %s, \"trials\": [", JsonOf(sweep.file.sweep_id).c_str(),
              JsonOf(sweep.dir).c_str());
  const char* comma = "\n";
  for (const Picked& one : picked) {
    const auto trial = KeptAttempt(sweep, one.trial);
    if (!trial) return Fail(trial.error());
    PrintedTrial printed = trial->Printed(trial->State());
    if (!choice.columns.empty()) printed.columns.emplace();
    for (const std::string& column : choice.columns) (*printed.columns)[column] = trial->Of(column);
    std::printf("%s %s", comma, JsonOf<PartForms>(printed).c_str());
    comma = ",\n";
  }
  std::puts("\n]}");
  return {};
}

// The sweep that the words of `muster ls` name, if any: a single word that is neither a run directory nor a folder of
// runs.
std::optional<std::string> SweepMeant(const std::vector<std::string>& words) {
  if (words.size() != 1) return std::nullopt;
  const std::string& word = words.front();
  std::error_code error;
  if (std::filesystem::is_directory(word, error)) {
    return std::filesystem::is_regular_file(kSweepEntry.In(word), error) ? std::optional(word) : std::nullopt;
  }
  const auto found = FindSweep(word);
  return found ? std::optional(*found) : std::nullopt;
}

// Prints the trials of the sweep in that folder, by default sorted by number; at most `limit`. Returns their
// number.
Result<std::size_t> ListTrials(const std::string& sweep_dir, const ListChoice& choice,
                               std::optional<std::uint64_t> limit, bool json) {
  const auto sweep = OpenSweepAt(sweep_dir);
  if (!sweep) return Fail(sweep.error());
  const auto picked = Pick(*sweep, choice, limit);
  if (!picked) return Fail(picked.error());
  if (json) {
    if (auto printed = PrintTrialsJson(*sweep, choice, *picked); !printed) return Fail(printed.error());
    return picked->size();
  }
  if (picked->empty()) return std::size_t{0};
  // The trials of a point follow by their numbers.
  const bool whole = choice.columns.empty() && choice.conditions.empty() && choice.keys.empty() && !limit;
  const std::vector<PointGroup> groups = PointGroupsOf(sweep->view.progress());
  if (whole && !groups.empty()) {
    PrintGroups(*sweep, groups);
    std::puts("");
  }
  std::vector<std::string> columns = choice.columns;
  std::vector<std::string> heads;
  if (columns.empty()) {
    columns = {"trial", "id", "state"};
    heads = {"TRIAL", "ID", "STATE"};
    for (const std::string& name : sweep->file.names) {
      columns.push_back("param." + name);
      heads.push_back(Printable(name));
    }
    columns.emplace_back("value");
    heads.push_back(Printable(sweep->ValueName()));
    if (const auto& second = sweep->file.second_objective) {
      columns.push_back("metric." + second->metric);
      heads.push_back(Printable(second->metric));
    }
    for (const char* name : {"took", "hosts", "tags", "why"}) columns.emplace_back(name);
    for (const char* head : {"TOOK", "HOSTS", "TAGS", "WHY"}) heads.emplace_back(head);
  } else {
    heads = HeadOf(columns);
  }
  std::vector<std::vector<std::string>> rows = {heads};
  for (const Picked& one : *picked) {
    const auto trial = KeptAttempt(*sweep, one.trial);
    if (!trial) return Fail(trial.error());
    std::vector<std::string>& row = rows.emplace_back();
    for (const std::string& column : columns) row.push_back(CellText(column, trial->Of(column)));
  }
  if (choice.columns.empty()) LeaveOutIfEmpty(1, rows);  // TAGS
  PrintTable(rows);
  return picked->size();
}

// What is printed as JSON, members in the order of their names.
struct PrintedSweep {
  std::string sweep, name, sweep_dir, started_at, state;
  std::uint64_t trials = 0;
  std::uint64_t over = 0;
  std::uint64_t impossible = 0;
  std::uint64_t failed = 0;
  std::optional<double> best;
  std::vector<std::string> tags;
  std::string note;
};
template <class V>
void Parts(V& v, const PrintedSweep& sweep) {
  v("best", sweep.best), v("failed", sweep.failed), v("impossible", sweep.impossible), v("name", sweep.name);
  v("note", As<NullIfNone>(sweep.note)), v("over", sweep.over), v("started_at", sweep.started_at);
  v("state", sweep.state), v("sweep", sweep.sweep), v("sweep_dir", sweep.sweep_dir), v("tags", sweep.tags);
  v("trials", sweep.trials);
}
struct PrintedSweepList {
  std::vector<PrintedSweep> sweeps;
};
template <class V>
void Parts(V& v, const PrintedSweepList& printed) {
  v("format", 1), v("sweeps", printed.sweeps);
}
// Of the lines that PrintTrialsJson writes.
struct PrintedTrials {
  std::vector<PrintedGroup> points;
  std::string sweep;
  std::string sweep_dir;
  std::vector<PrintedTrial> trials;
};
template <class V>
void Parts(V& v, const PrintedTrials& printed) {
  v("format", 1), v("points", As<UnlessNone>(printed.points)), v("sweep", printed.sweep),
      v("sweep_dir", printed.sweep_dir), v("trials", printed.trials);
}

// Prints the sweeps below the default folder, newest first. An empty table is only printed if `even_if_none`. Returns
// an error for each sweep that cannot be read.
Result<Diagnostics> PrintSweepList(bool json, bool even_if_none) {
  const auto folder = DefaultSweepsFolder();
  if (!folder) return Fail(folder.error());
  std::vector<FoundRun> found = RunsBelow(*folder, kSweepDirectories);
  std::reverse(found.begin(), found.end());
  std::vector<std::vector<std::string>> rows = {
      {"NAME", "SWEEP", "STARTED", "STATE", "TRIALS", "IMPOSSIBLE", "OVER", "FAILED", "BEST", "TAGS", "NOTE"}};
  PrintedSweepList printed;
  Diagnostics unreadable;
  for (const FoundRun& one : found) {
    if (!HasJournal(one.path)) continue;
    const auto sweep = OpenSweepAt(one.path);
    const auto began = sweep ? sweep->view.Began() : Fail(sweep.error());
    if (!began) {
      unreadable.insert(unreadable.end(), began.error().begin(), began.error().end());
      continue;
    }
    const SweepProgress& progress = sweep->view.progress();
    const std::optional<double> best =
        progress.best() ? std::optional(ObjectiveValue(sweep->file.objective, progress.best()->loss)) : std::nullopt;
    const std::vector<std::string> tags = TagsOfRun(sweep->dir);
    const std::string note = NoteOfRun(sweep->dir);
    rows.push_back({Printable(progress.name()), Printable(progress.sweep_id()), TimeText(*began), sweep->State(),
                    std::to_string(progress.trials()), std::to_string(progress.impossible().size()),
                    std::to_string(progress.over().size()), std::to_string(progress.failed()),
                    best ? Printable(sweep->ValueName()) + " " + ShownNumber(*best) : "",
                    Printable(TagsText(TagValues(tags))), Printable(note)});
    printed.sweeps.push_back({progress.sweep_id(), progress.name(), sweep->dir, *began, sweep->State(),
                              progress.trials(), progress.over().size(), progress.impossible().size(),
                              progress.failed(), best, tags, note});
  }
  if (rows.size() > 1) {
    LeaveOutIfEmpty(1, rows);  // TAGS
    LeaveOutIfEmpty(0, rows);  // NOTE
  }
  if (json) {
    std::printf("%s\n", JsonOf<PartForms>(printed, 2).c_str());
  } else if (rows.size() > 1 || even_if_none) {
    PrintTable(rows);
  }
  return unreadable;
}

// muster ls SWEEP SWEEP …: compares sweeps, and the points that all of them tried.

constexpr std::uint64_t kPointsShown = 20;

using Axes = std::map<std::string, std::string>;

std::string ListText(const Value::List& values) {
  std::string text;
  for (const Value& value : values) text += (text.empty() ? "" : ", ") + CellText({}, value);
  return text;
}

// Adds the axes of a space of sweep.json by name. For a name in several parts the texts of all are joined.
void AddAxes(const Value& space, Axes& axes) {
  const auto add = [&](const std::string& name, const std::string& text) {
    std::string& axis = axes[name];
    if (!axis.empty() && axis != text) axis += " | ";
    if (axis != text) axis += text;
  };
  const Value* values = FieldOf(space, "values");
  const std::string kind = TextField(space, "kind");
  if (kind == "axis") {
    const auto end = [&](const char* name) {
      const Value* bound = FieldOf(space, name);
      return bound == nullptr ? std::string() : CellText({}, *bound);
    };
    std::string text;
    if (values != nullptr && values->AsList() != nullptr) {
      text = ListText(*values->AsList());
    } else {
      text = fmt::format("{} {}..{}", TextField(space, "axis"), end("low"), end("high"));
      if (FieldOf(space, "step") != nullptr) text += ":" + end("step");
    }
    add(TextField(space, "name"), text);
  }
  if (kind == "fixed" && values != nullptr && values->AsMap() != nullptr) {
    for (const auto& [name, value] : *values->AsMap()) add(name, CellText({}, value));
  }
  const Value* parts = FieldOf(space, "parts");
  if (parts == nullptr || parts->AsList() == nullptr) return;
  for (const Value& part : *parts->AsList()) AddAxes(part, axes);
}

Axes AxesOf(const std::string& sweep_dir) {
  Axes axes;
  const auto text = ReadSmallFile(kSweepEntry.In(sweep_dir), kSweepEntry.most);
  const auto json = text ? ValueFromJsonText(*text) : tl::unexpected(std::string());
  const Value* description = json ? FieldOf(*json, "description") : nullptr;
  const Value* space = description == nullptr ? nullptr : FieldOf(*description, "space");
  if (space != nullptr) AddAxes(*space, axes);
  return axes;
}

struct Compared {
  OpenedSweep sweep;
  Axes axes;
  std::map<std::string, TrialFacts> trials;                 // by the id of the point
  std::map<std::string, std::string> by_present_name = {};  // swept names: as now -> as in this sweep

  // A swept name as this sweep has it.
  std::string OwnName(const std::string& present) const {
    const auto found = by_present_name.find(present);
    return found == by_present_name.end() ? present : found->second;
  }

  const SweepProgress& progress() const { return sweep.view.progress(); }
};

std::string ObjectiveText(const OpenedSweep& sweep) {
  const auto& objective = sweep.file.objective;
  if (!objective) return "none";
  const auto text = [](const Objective& one) {
    return fmt::format("the {} {}", one.maximize ? "largest" : "smallest", Printable(one.metric));
  };
  return text(*objective) + (sweep.file.second_objective ? ", " + text(*sweep.file.second_objective) : "");
}

// "0.25", "0.9 (stopped)", "crash".
std::string ResultText(const TrialFacts& trial) {
  const Value value = trial.Of("value");
  const std::string state = trial.State();
  if (value.IsNull()) return state;
  return CellText({}, value) + (state == "ok" ? "" : " (" + state + ")");
}

// Ids of the points that all sweeps have tried: sorted by result in the first sweep, the best first, then by number.
std::vector<std::string> PointsOfAll(const std::vector<Compared>& sweeps) {
  std::vector<std::string> ids;
  for (const auto& [id, unused] : sweeps.front().trials) {
    const std::string& point = id;
    if (std::all_of(sweeps.begin(), sweeps.end(), [&](const Compared& one) { return one.trials.contains(point); })) {
      ids.push_back(id);
    }
  }
  const auto before = [&](const std::string& a, const std::string& b) {
    const AttemptRow& left = sweeps.front().trials.at(a).row();
    const AttemptRow& right = sweeps.front().trials.at(b).row();
    if (left.loss.has_value() != right.loss.has_value()) return left.loss.has_value();
    if (left.loss && *left.loss != *right.loss) return *left.loss < *right.loss;
    return left.trial < right.trial;
  };
  std::sort(ids.begin(), ids.end(), before);
  return ids;
}

void PrintSides(const std::vector<Compared>& sweeps) {
  std::vector<std::vector<std::string>> rows;
  const auto row = [&](const std::string& head, const auto& cell, bool even_if_empty = false) {
    std::vector<std::string> cells = {head};
    for (const Compared& one : sweeps) cells.push_back(cell(one));
    const bool empty =
        std::all_of(cells.begin() + 1, cells.end(), [](const std::string& text) { return text.empty(); });
    if (even_if_empty || !empty) rows.push_back(std::move(cells));
  };
  const auto count = [](std::uint64_t number) { return number == 0 ? std::string() : std::to_string(number); };
  row("sweep", [](const Compared& one) { return Printable(one.sweep.file.name + " " + one.sweep.file.sweep_id); });
  row("state", [](const Compared& one) { return one.sweep.State(); });
  row("recipe", [](const Compared& one) { return Printable(one.progress().recipe()); });
  row("words", [](const Compared& one) {
    std::string words;
    for (const std::string& word : one.sweep.file.words) words += (words.empty() ? "" : " ") + ShellQuoted(word);
    return Printable(words);
  });
  row("objective", [](const Compared& one) { return ObjectiveText(one.sweep); });
  std::set<std::string> names;
  for (const Compared& one : sweeps) {
    for (const auto& [name, unused] : one.axes) names.insert(name);
  }
  for (const std::string& name : names) {
    row(Printable(name), [&](const Compared& one) {
      const auto axis = one.axes.find(name);
      return axis == one.axes.end() ? "not swept" : axis->second;
    });
  }
  row("trials", [&](const Compared& one) { return std::to_string(one.progress().trials()); });
  row("impossible", [&](const Compared& one) { return count(one.progress().impossible().size()); });
  row("over", [&](const Compared& one) { return std::to_string(one.progress().over().size()); });
  const auto states_row = [&](const std::string& name) {
    row("  " + name, [&](const Compared& one) {
      const auto classes = ClassesOf(one.progress());
      const auto found = classes.find(name);
      return found == classes.end() ? std::string() : std::to_string(found->second);
    });
  };
  for (std::size_t i = 0; i < kTrialClassNames.size(); ++i) {
    states_row(std::string(kTrialClassNames[i]));
    if (static_cast<TrialClass>(i) == TrialClass::kStopped) states_row("paused");
  }
  row("attempts", [](const Compared& one) { return std::to_string(one.progress().attempts()); });
  row("time", [](const Compared& one) { return DurationText(static_cast<double>(one.progress().trial_ms()) / 1000); });
  const auto best = [](const Compared& one, const auto& cell) {
    return one.progress().best() ? cell(*one.progress().best()) : std::string();
  };
  row("best", [&](const Compared& one) {
    return best(one, [&](const BestTrial& trial) {
      return fmt::format("{} {} (trial {})", Printable(one.sweep.ValueName()),
                         ShownNumber(ObjectiveValue(one.sweep.file.objective, trial.loss)), trial.trial);
    });
  });
  for (const std::string& name : names) {
    row("  " + Printable(name), [&](const Compared& one) {
      return best(one, [&](const BestTrial& trial) {
        const Value* value = FieldOf(trial.point, one.OwnName(name));
        return value == nullptr ? std::string() : CellText({}, *value);
      });
    });
  }
  PrintTable(rows);
}

void PrintPoints(const std::vector<Compared>& sweeps, const std::vector<std::string>& ids, std::uint64_t most) {
  if (ids.empty()) {
    std::puts("\nno point was tried by all of them");
    return;
  }
  std::printf("\npoints that all of them tried: %zu\n", ids.size());
  std::vector<std::string> heads = {"ID"};
  const Compared& first = sweeps.front();
  for (const auto& [name, unused] : first.by_present_name) heads.push_back(Printable(name));
  // By name, if the names are distinct.
  std::set<std::string> sweep_names;
  for (const Compared& one : sweeps) sweep_names.insert(one.sweep.file.name);
  for (const Compared& one : sweeps) {
    const bool by_name = sweep_names.size() == sweeps.size();
    heads.push_back(Printable(by_name ? one.sweep.file.name : one.sweep.file.sweep_id));
  }
  std::vector<std::vector<std::string>> rows = {std::move(heads)};
  for (std::size_t i = 0; i < ids.size() && i < most; ++i) {
    std::vector<std::string>& row = rows.emplace_back();
    row.push_back(ids[i]);
    for (const auto& [unused, name] : first.by_present_name) {
      row.push_back(CellText({}, first.trials.at(ids[i]).Of("param." + name)));
    }
    for (const Compared& one : sweeps) row.push_back(ResultText(one.trials.at(ids[i])));
  }
  PrintTable(rows);
  if (ids.size() > most) std::printf("and %zu more: -n N shows as many\n", ids.size() - static_cast<std::size_t>(most));
}

// Members are in the order of their names.
struct PrintedSide {
  std::string sweep, name, sweep_dir, state, recipe;
  std::optional<PrintedObjective> objective;
  std::map<std::string, std::string> axes;
  std::uint64_t trials = 0;
  std::uint64_t impossible = 0;
  std::uint64_t over = 0;
  std::map<std::string, std::uint64_t> classes;
  std::uint64_t attempts = 0;
  double seconds = 0;
  std::optional<PrintedBest> best;
};
template <class V>
void Parts(V& v, const PrintedSide& side) {
  v("attempts", side.attempts), v("axes", side.axes), v("best", side.best), v("classes", side.classes);
  v("impossible", side.impossible), v("name", side.name), v("objective", side.objective), v("over", side.over);
  v("recipe", side.recipe), v("seconds", side.seconds), v("state", side.state), v("sweep", side.sweep);
  v("sweep_dir", side.sweep_dir), v("trials", side.trials);
}
struct PrintedResult {
  std::uint64_t trial = 0;
  std::string state;
  std::optional<double> value;
};
template <class V>
void Parts(V& v, const PrintedResult& result) {
  v("state", result.state), v("trial", result.trial), v("value", result.value);
}
struct PrintedPoint {
  std::string id;
  Value::Map point;
  std::vector<PrintedResult> trials;
};
template <class V>
void Parts(V& v, const PrintedPoint& point) {
  v("id", point.id), v("point", point.point), v("trials", point.trials);
}
struct PrintedComparison {
  std::vector<PrintedSide> sweeps;
  std::uint64_t points_of_all = 0;
  std::vector<PrintedPoint> points;
};
template <class V>
void Parts(V& v, const PrintedComparison& printed) {
  v("format", 1), v("points", printed.points), v("points_of_all", printed.points_of_all), v("sweeps", printed.sweeps);
}

void PrintComparisonJson(const std::vector<Compared>& sweeps, const std::vector<std::string>& ids, std::uint64_t most) {
  PrintedComparison printed;
  printed.points_of_all = ids.size();
  for (const Compared& one : sweeps) {
    const SweepProgress& progress = one.progress();
    printed.sweeps.push_back({one.sweep.file.sweep_id,
                              one.sweep.file.name,
                              one.sweep.dir,
                              one.sweep.State(),
                              progress.recipe(),
                              ObjectiveOf(one.sweep),
                              {one.axes.begin(), one.axes.end()},
                              progress.trials(),
                              progress.impossible().size(),
                              progress.over().size(),
                              ClassesOf(progress),
                              progress.attempts(),
                              static_cast<double>(progress.trial_ms()) / 1000,
                              BestOf(one.sweep)});
  }
  for (std::size_t i = 0; i < ids.size() && i < most; ++i) {
    PrintedPoint& point = printed.points.emplace_back();
    point.id = ids[i];
    point.point = sweeps.front().trials.at(ids[i]).row().point;
    for (const Compared& one : sweeps) {
      const PrintedTrial trial = one.trials.at(ids[i]).Printed(one.trials.at(ids[i]).State());
      point.trials.push_back({trial.trial, trial.state, trial.value});
    }
  }
  std::printf("%s\n", JsonOf<PartForms>(printed, 2).c_str());
}

// The directories of the named sweeps if there are two or more words and one of them names a sweep; empty otherwise.
// Kind "usage" if only some of them do.
Result<std::vector<std::string>> SweepsMeant(const std::vector<std::string>& words) {
  std::vector<std::string> sweeps;
  if (words.size() < 2) return sweeps;
  std::string other;
  for (const std::string& word : words) {
    if (const auto sweep = SweepMeant({word})) {
      sweeps.push_back(*sweep);
    } else {
      other = word;
    }
  }
  if (sweeps.empty() || other.empty()) return sweeps;
  return Fail(Error("usage", {}, fmt::format("{} names no sweep, but another argument does", Quoted(other)),
                    "muster ls SWEEP SWEEP compares sweeps; muster ls --sweeps lists them"));
}

// Prints axes, objectives, counts and best points of the sweeps, and then the points that all of them tried
// with each result, sorted by the first sweep's results; at most `limit` of these (default on a terminal:
// 20).
Result<void> CompareSweeps(const std::vector<std::string>& sweep_dirs, std::optional<std::uint64_t> limit, bool json) {
  std::vector<Compared> sweeps;
  sweeps.reserve(sweep_dirs.size());  // facts of trials hold references to their sweep
  for (const std::string& dir : sweep_dirs) {
    auto opened = OpenSweepAt(dir);
    if (!opened) return Fail(opened.error());
    sweeps.emplace_back(Compared{*std::move(opened), AxesOf(dir), {}});
  }
  // A parameter that was renamed is compared by the name that it has now.
  std::map<std::string, std::string> present;
  for (const Compared& one : sweeps) {
    for (const auto& [name, was] : one.sweep.file.former_names) present.emplace(was, name);
  }
  const auto renamed = [&present](auto names) {
    decltype(names) now;
    for (auto& [name, value] : names) {
      const auto found = present.find(name);
      now.emplace(found == present.end() ? name : found->second, std::move(value));
    }
    return now;
  };
  for (Compared& one : sweeps) {
    one.axes = renamed(std::move(one.axes));
    for (std::string& name : one.sweep.file.names) {
      const auto found = present.find(name);
      one.by_present_name.emplace(found == present.end() ? name : found->second, name);
    }
    auto read = one.sweep.view.ForEachTrial(SweepView::Order::kNumber, [&](AttemptRow row) {
      const bool has_other_names = std::any_of(row.point.begin(), row.point.end(),
                                               [&](const auto& entry) { return present.contains(entry.first); });
      std::string id = has_other_names ? PointId(renamed(row.point)) : row.id;
      one.trials.emplace(std::move(id), TrialFacts(one.sweep, std::move(row)));
      return true;
    });
    if (!read) return Fail(std::move(read.error()));
  }
  const std::vector<std::string> ids = PointsOfAll(sweeps);
  if (json) {
    PrintComparisonJson(sweeps, ids, limit.value_or(ids.size()));
  } else {
    PrintSides(sweeps);
    PrintPoints(sweeps, ids, limit.value_or(kPointsShown));
  }
  return {};
}

}  // namespace

// muster ls: lists runs and their outcomes; filtered and sorted by their properties.

namespace {

struct LsOptions {
  std::vector<std::string> folders;
  std::vector<std::string> where;
  std::string columns;
  std::string sort;
  std::optional<std::uint64_t> limit;
  bool json = false;
  bool recipes = false;
  bool sweeps = false;
};

// A name that no run has is reported as a mistake, unless there are no runs at all.
Result<void> CheckNames(const ListChoice& choice, std::vector<RunFacts>& runs) {
  if (runs.empty()) return {};
  for (const std::string& name : choice.Names()) {
    if (std::any_of(runs.begin(), runs.end(), [&](RunFacts& run) { return run.Has(name); })) continue;
    std::set<std::string> known;
    for (RunFacts& run : runs) run.AddNames(known);
    return Fail(NoSuchColumn("run", name, known));
  }
  return {};
}

// A condition that fits the values of no run is reported as a mistake, too: it would silently find nothing.
Result<void> CheckConditions(const ListChoice& choice, std::vector<RunFacts>& runs) {
  for (const RunCondition& condition : choice.conditions) {
    Value example;
    bool asked = false;
    for (RunFacts& run : runs) {
      const Value value = run.Of(condition.name);
      if (value.IsNull()) continue;
      asked = CanBeAsked(condition, value);
      if (asked) break;
      example = value;
    }
    if (asked || example.IsNull()) continue;
    return Fail(CannotBeCompared(condition, example));
  }
  return {};
}

std::vector<RunFacts> Sorted(const std::vector<SortKey>& keys, std::vector<RunFacts> runs) {
  struct Keyed {
    std::vector<Value> values;  // values of the sort keys
    std::size_t run = 0;
  };
  std::vector<Keyed> order;
  for (RunFacts& run : runs) {
    Keyed& keyed = order.emplace_back();
    keyed.run = order.size() - 1;
    for (const SortKey& key : keys) keyed.values.push_back(run.Of(key.name));
  }
  std::stable_sort(order.begin(), order.end(),
                   [&](const Keyed& a, const Keyed& b) { return KeysComeBefore(keys, a.values, b.values); });
  std::vector<RunFacts> sorted;
  for (const Keyed& keyed : order) sorted.push_back(std::move(runs[keyed.run]));
  return sorted;
}

void PrintColumns(const std::vector<std::string>& columns, std::vector<RunFacts>& runs) {
  std::vector<std::vector<std::string>> rows = {HeadOf(columns)};
  for (RunFacts& run : runs) {
    std::vector<std::string>& row = rows.emplace_back();
    for (const std::string& column : columns) row.push_back(CellText(column, run.Of(column)));
  }
  PrintTable(rows);
}

void PrintUsual(const std::vector<RunFacts>& runs) {
  std::vector<std::vector<std::string>> rows = {{"NAME", "RUN", "STARTED", "TOOK", "OUTCOME", "EXIT", "WHY"}};
  for (const RunFacts& facts : runs) {
    const RunSummary& run = facts.summary();
    const bool running = run.outcome == "running";
    rows.push_back({Printable(run.name) + (run.drill       ? " (drill)"
                                           : run.rehearsal ? " (rehearsal)"
                                                           : ""),
                    Printable(run.run), TimeText(run.started_at), running ? "" : DurationText(run.seconds), run.outcome,
                    running ? "" : std::to_string(run.exit_code), Printable(run.why)});
  }
  PrintTable(rows);
}

void PrintJson(const std::vector<std::string>& columns, std::vector<RunFacts>& runs) {
  std::vector<PrintedRun> printed;
  for (RunFacts& run : runs) {
    PrintedRun& one = printed.emplace_back(PrintedRun{run.summary()});
    if (!columns.empty()) one.columns.emplace();
    for (const std::string& column : columns) (*one.columns)[column] = run.Of(column);
  }
  PrintRunsJson(std::move(printed));
}

std::set<std::string> MissingFolders(const LsOptions& options) {
  std::set<std::string> missing;
  for (const std::string& folder : options.folders) {
    std::error_code error;
    if (!std::filesystem::exists(folder, error)) missing.insert(folder);
  }
  return missing;
}

// Reports an empty result on stderr, so that the table or JSON on stdout stays valid. A misspelt folder, of those that
// are `missing`, is no empty list: programs read that as JSON, and no list may have been printed.
int ReportNoMatch(const LsOptions& options, const std::string& what, const std::set<std::string>& missing) {
  const bool asked = !options.folders.empty() || !options.where.empty();
  std::string text = "no " + what;
  if (!options.where.empty()) text += " for which the condition holds";
  const char* separator = " in ";
  for (const std::string& folder : options.folders) {
    text += separator + Quoted(folder);
    if (missing.contains(folder)) text += " (no such folder)";
    separator = ", ";
  }
  if (options.json && !missing.empty()) {
    std::fputs(DiagnosticsJson({Error("run", {}, text, "muster ls --sweeps lists sweeps")}).c_str(), stdout);
  }
  std::fprintf(stderr, "muster: %s\n", PrintableLines(text).c_str());
  return asked ? kExitNothing : kExitOk;
}

int Compare(const LsOptions& options, const ListChoice& choice, const std::vector<std::string>& sweeps) {
  if (!choice.conditions.empty() || !choice.columns.empty() || !choice.keys.empty()) {
    return Refuse({Error("usage", {}, "--where, --columns and --sort are for the trials of one sweep",
                         "muster ls SWEEP SWEEP compares sweeps as they are")},
                  options.json);
  }
  const auto compared = CompareSweeps(sweeps, options.limit, options.json);
  return compared ? kExitOk : Refuse(compared.error(), options.json);
}

int RunLs(const LsOptions& options) {
  if (options.recipes) return ShowRecipes(options.json);
  const auto choice = ReadListChoice(options.where, options.columns, options.sort);
  if (!choice) return Refuse(choice.error(), options.json);
  if (options.sweeps) {
    const auto unreadable = PrintSweepList(options.json, true);
    return unreadable ? ExitListed(*unreadable) : Refuse(unreadable.error(), options.json);
  }
  if (const auto sweep = SweepMeant(options.folders)) {
    const auto trials = ListTrials(*sweep, *choice, options.limit, options.json);
    if (!trials) return Refuse(trials.error(), options.json);
    return *trials > 0 ? kExitOk : ReportNoMatch(options, "trial", {});
  }
  const auto sweeps = SweepsMeant(options.folders);
  if (!sweeps) return Refuse(sweeps.error(), options.json);
  if (!sweeps->empty()) return Compare(options, *choice, *sweeps);
  auto listed = ListRuns(options.folders, false, false);
  if (!listed) return Refuse(listed.error(), options.json);
  std::vector<RunFacts> runs;
  for (RunSummary& run : listed->runs) runs.emplace_back(std::move(run));
  if (auto known = CheckNames(*choice, runs); !known) return Refuse(known.error(), options.json);
  if (auto sound = CheckConditions(*choice, runs); !sound) return Refuse(sound.error(), options.json);
  std::erase_if(runs, [&](RunFacts& run) {
    return !std::all_of(choice->conditions.begin(), choice->conditions.end(), [&](const RunCondition& condition) {
      return Holds(condition, [&](const std::string& name) { return run.Of(name); });
    });
  });
  runs = Sorted(choice->keys, std::move(runs));
  const bool all = !options.limit && options.folders.empty() && choice->Names().empty();
  if (options.limit && runs.size() > *options.limit)
    runs.erase(runs.begin() + static_cast<std::ptrdiff_t>(*options.limit), runs.end());
  Diagnostics& unreadable = listed->unreadable;
  const bool none = runs.empty() && unreadable.empty();
  const std::set<std::string> missing = MissingFolders(options);
  if (options.json) {
    if (!none || missing.empty()) PrintJson(choice->columns, runs);
  } else if (!runs.empty()) {
    choice->columns.empty() ? PrintUsual(runs) : PrintColumns(choice->columns, runs);
  }
  if (all && !options.json) {
    const auto after = PrintSweepList(false, false);
    if (!after) return Refuse(after.error(), options.json);
    unreadable.insert(unreadable.end(), after->begin(), after->end());
  }
  return none ? ReportNoMatch(options, "run", missing) : ExitListed(unreadable);
}

}  // namespace

std::string SweepsSchema() { return SchemaOf<PartForms>(PrintedSweepList()); }
std::string TrialsSchema() { return SchemaOf<PartForms>(PrintedTrials()); }
std::string ComparisonSchema() { return SchemaOf<PartForms>(PrintedComparison()); }

std::function<int()> SetupLs(CLI::App& app, const Invocation&) {
  auto options = std::make_shared<LsOptions>();
  AddFoldersArgument(app, options->folders);
  app.get_option("FOLDERS")->description(
      "folders of runs, or run directories; default: $MUSTER_HOME/runs or ./runs. A SWEEP: its trials; several: "
      "compare "
      "them");
  AddWhereOption(app, options->where, "runs");
  app.add_option(
         "--columns", options->columns,
         "columns to show: name, id, started, took, outcome, exit, why, plan, dir, tags, note, kept; parameters, "
         "derived values, tags and metrics by their names")
      ->type_name("NAME,…");
  app.add_option("--sort", options->sort, "sort by these columns; -NAME: descending")->type_name("[-]NAME,…");
  app.add_option("-n,--limit", options->limit, "only the first N")->type_name("N");
  app.add_flag("--json", options->json, "print JSON for programs");
  app.add_flag("--recipes", options->recipes, "list recipes instead: built-in ones, those here, libraries")
      ->excludes(app.get_option("FOLDERS"))
      ->excludes("--where")
      ->excludes("--columns")
      ->excludes("--sort");
  app.add_flag("--sweeps", options->sweeps, "list sweeps instead; muster ls SWEEP lists its trials")
      ->excludes(app.get_option("FOLDERS"))
      ->excludes("--where")
      ->excludes("--columns")
      ->excludes("--sort")
      ->excludes("--limit")
      ->excludes("--recipes");
  return [options] { return RunLs(*options); };
}

}  // namespace muster
