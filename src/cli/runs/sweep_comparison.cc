#include "cli/runs/sweep_comparison.h"

#include <algorithm>
#include <cstdio>
#include <map>
#include <set>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/values/json_text.h"
#include "base/values/shell_quote.h"
#include "base/values/shown_number.h"
#include "base/values/units.h"
#include "cli/command/small_file.h"
#include "cli/lookup/list_choice.h"
#include "cli/lookup/run_list.h"
#include "cli/lookup/trial_facts.h"
#include "cli/runs/trial_list.h"
#include "settings/values/value_field.h"
#include "settings/values/value_json.h"

namespace muster {
namespace {

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
  const auto text = ReadSmallFile(sweep_dir + "/sweep.json");
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

  const SweepProgress& account() const { return sweep.view.account(); }
};

std::string ObjectiveText(const OpenedSweep& sweep) {
  const auto& objective = sweep.file.objective;
  if (!objective) return "none";
  return fmt::format("the {} {}", objective->maximize ? "largest" : "smallest", Printable(objective->metric));
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
  row("recipe", [](const Compared& one) { return Printable(one.account().recipe()); });
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
  row("trials", [&](const Compared& one) { return std::to_string(one.account().trials()); });
  row("impossible", [&](const Compared& one) { return count(one.account().impossible().size()); });
  row("over", [&](const Compared& one) { return std::to_string(one.account().over().size()); });
  for (std::size_t i = 0; i < kTrialClassNames.size(); ++i) {
    row("  " + std::string(kTrialClassNames[i]),
        [&](const Compared& one) { return count(one.account().count(static_cast<TrialClass>(i))); });
  }
  row("attempts", [](const Compared& one) { return std::to_string(one.account().attempts()); });
  row("time", [](const Compared& one) { return DurationText(static_cast<double>(one.account().trial_ms()) / 1000); });
  const auto best = [](const Compared& one, const auto& cell) {
    return one.account().best() ? cell(*one.account().best()) : std::string();
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

void PrintComparisonJson(const std::vector<Compared>& sweeps, const std::vector<std::string>& ids, std::uint64_t most) {
  nlohmann::json object = {{"format", 1},
                           {"sweeps", nlohmann::json::array()},
                           {"points_of_all", ids.size()},
                           {"points", nlohmann::json::array()}};
  for (const Compared& one : sweeps) {
    const SweepProgress& account = one.account();
    nlohmann::json axes = nlohmann::json::object();
    for (const auto& [name, text] : one.axes) axes[Readable(name)] = Readable(text);
    object["sweeps"].push_back({{"sweep", one.sweep.file.sweep_id},
                                {"name", Readable(one.sweep.file.name)},
                                {"sweep_dir", Readable(one.sweep.dir)},
                                {"state", one.sweep.State()},
                                {"recipe", Readable(account.recipe())},
                                {"objective", ObjectiveJson(one.sweep)},
                                {"axes", std::move(axes)},
                                {"trials", account.trials()},
                                {"impossible", account.impossible().size()},
                                {"over", account.over().size()},
                                {"classes", ClassesJson(account)},
                                {"attempts", account.attempts()},
                                {"seconds", static_cast<double>(account.trial_ms()) / 1000},
                                {"best", BestJson(one.sweep)}});
  }
  for (std::size_t i = 0; i < ids.size() && i < most; ++i) {
    nlohmann::json trials = nlohmann::json::array();
    for (const Compared& one : sweeps) {
      const TrialFacts& trial = one.trials.at(ids[i]);
      trials.push_back({{"trial", trial.row().trial}, {"state", trial.State()}, {"value", ToJson(trial.Of("value"))}});
    }
    object["points"].push_back({{"id", ids[i]},
                                {"point", ToJson(Value(sweeps.front().trials.at(ids[i]).row().point))},
                                {"trials", std::move(trials)}});
  }
  std::printf("%s\n", SerializedJson(object, 2).c_str());
}

}  // namespace

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

}  // namespace muster
