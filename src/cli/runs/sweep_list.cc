#include "cli/runs/sweep_list.h"

#include <algorithm>
#include <filesystem>
#include <set>
#include <system_error>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/values/shell_quote.h"
#include "base/values/units.h"
#include "cli/lookup/run_argument.h"
#include "cli/lookup/run_list.h"
#include "cli/lookup/run_or_sweep.h"
#include "run/directory/run_directory.h"
#include "settings/values/value_json.h"

namespace muster {
namespace {

// "2 of 4"; without a limit of slots "2".
std::string RunningText(const SweepSnapshot& sweep) {
  std::string text = std::to_string(sweep.running.size());
  if (sweep.live && sweep.file.slots > 0) text += fmt::format(" of {}", sweep.file.slots);
  return text;
}

std::string DoneText(const SweepSnapshot& sweep) {
  std::string text = fmt::format("{} of {}", sweep.over, sweep.possible);
  if (sweep.failed > 0) text += fmt::format(", {} failed", sweep.failed);
  return text;
}

}  // namespace

nlohmann::json MetricsJson(const RoleReports& reports) {
  nlohmann::json json = nlohmann::json::object();
  for (const auto& [role, values] : reports) json[Readable(role)] = ToJson(Value(values));
  return json;
}

Result<SweepList> ListSweeps(const std::vector<std::string>& folders, bool live_only) {
  std::vector<std::string> places = folders;
  if (places.empty()) {
    auto sweeps = DefaultSweepsFolder();
    if (!sweeps) return Fail(sweeps.error());
    places.push_back(*std::move(sweeps));
  }
  SweepList list;
  std::set<std::filesystem::path> seen;
  for (const std::string& place : places) {
    std::vector<std::string> paths;
    std::error_code error;
    if (std::filesystem::is_regular_file(place + "/sweep.json", error)) {
      paths.push_back(place);
    } else {
      for (const FoundRun& found : RunsBelow(place, kSweepDirectories)) paths.push_back(found.path);
    }
    for (const std::string& path : paths) {
      if ((live_only && !IsRunLive(path)) || !HasJournal(path)) continue;
      if (!seen.insert(std::filesystem::weakly_canonical(path, error)).second) continue;
      auto look = ReadSweepSnapshot(path);
      if (!look) {
        list.unreadable.insert(list.unreadable.end(), look.error().begin(), look.error().end());
      } else if (!live_only || look->live) {
        std::string word = WordForSweep(path, look->file.name, look->file.sweep_id);
        list.sweeps.push_back({*std::move(look), std::move(word)});
      }
    }
  }
  std::stable_sort(list.sweeps.begin(), list.sweeps.end(),
                   [](const ListedSweep& a, const ListedSweep& b) { return a.look.started_at > b.look.started_at; });
  return list;
}

void PrintSweepTable(const std::vector<ListedSweep>& sweeps) {
  if (sweeps.empty()) return;
  std::vector<std::vector<std::string>> rows = {
      {"SWEEP", "ID", "STARTED", "STATE", "DONE", "RUNNING", "WAITING", "TOOK", "BEST", "FOLDER"}};
  for (const ListedSweep& sweep : sweeps) {
    const SweepSnapshot& look = sweep.look;
    rows.push_back({Printable(look.file.name), Printable(look.file.sweep_id), TimeText(look.started_at),
                    look.waits.empty() ? look.state : "waiting for devices", DoneText(look), RunningText(look),
                    std::to_string(look.waiting), DurationText(look.seconds), look.BestText(), Printable(look.dir)});
  }
  PrintTable(rows);
}

nlohmann::json SweepListJson(const std::vector<ListedSweep>& sweeps) {
  nlohmann::json list = nlohmann::json::array();
  for (const ListedSweep& sweep : sweeps) {
    const SweepSnapshot& look = sweep.look;
    nlohmann::json one = {{"sweep", look.file.sweep_id},
                          {"name", Readable(look.file.name)},
                          {"word", Readable(sweep.word)},
                          {"sweep_dir", Readable(look.dir)},
                          {"state", look.state},
                          {"why", look.why.empty() ? nlohmann::json() : nlohmann::json(Readable(look.why))},
                          {"started_at", look.started_at},
                          {"seconds", look.seconds},
                          {"trials", look.possible},
                          {"over", look.over},
                          {"failed", look.failed},
                          {"running", look.running.size()},
                          {"waiting", look.waiting},
                          {"slots", look.file.slots > 0 ? nlohmann::json(look.file.slots) : nlohmann::json()},
                          {"best", nullptr},
                          {"running_trials", nlohmann::json::array()}};
    if (!look.waits.empty()) one["waits"] = look.waits;
    if (look.best) {
      one["best"] = {{"trial", look.best->trial},
                     {"attempt", look.best->attempt + 1},
                     {"value", ObjectiveValue(look.file.objective, look.best->loss)},
                     {"point", ToJson(Value(look.best->point))}};
    }
    for (const RunningTrial& trial : look.running) {
      nlohmann::json row = RunJson(trial.run, true);
      row["name"] = Readable(sweep.NameOf(trial));
      row["trial"] = trial.trial;
      row["attempt"] = trial.attempt + 1;
      row["point"] = ToJson(Value(trial.point));
      row["metrics"] = MetricsJson(trial.metrics);
      one["running_trials"].push_back(std::move(row));
    }
    list.push_back(std::move(one));
  }
  return list;
}

}  // namespace muster
