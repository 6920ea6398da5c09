#include "cli/runs/trial_list.h"

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/values/json_text.h"
#include "base/values/shell_quote.h"
#include "base/values/shown_number.h"
#include "base/values/units.h"
#include "cli/lookup/run_argument.h"
#include "cli/lookup/run_list.h"
#include "cli/lookup/trial_conditions.h"
#include "cli/lookup/trial_facts.h"
#include "run/directory/run_note.h"
#include "run/directory/run_tags.h"
#include "settings/values/value_json.h"

namespace muster {
namespace {

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
  const nlohmann::json id = sweep.file.sweep_id;
  const nlohmann::json dir = Readable(sweep.dir);
  std::printf("{\"format\": 1, \"sweep\": %s, \"sweep_dir\": %s, \"trials\": [", SerializedJson(id).c_str(),
              SerializedJson(dir).c_str());
  const char* comma = "\n";
  for (const Picked& one : picked) {
    const auto trial = KeptAttempt(sweep, one.trial);
    if (!trial) return Fail(trial.error());
    nlohmann::json json = trial->Json(trial->State());
    for (const std::string& column : choice.columns) json["columns"][column] = ToJson(trial->Of(column));
    std::printf("%s %s", comma, SerializedJson(json).c_str());
    comma = ",\n";
  }
  std::puts("\n]}");
  return {};
}

}  // namespace

std::optional<std::string> SweepMeant(const std::vector<std::string>& words) {
  if (words.size() != 1) return std::nullopt;
  const std::string& word = words.front();
  std::error_code error;
  if (std::filesystem::is_directory(word, error)) {
    return std::filesystem::is_regular_file(word + "/sweep.json", error) ? std::optional(word) : std::nullopt;
  }
  const auto found = FindSweep(word);
  return found ? std::optional(*found) : std::nullopt;
}

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
  std::vector<std::string> columns = choice.columns;
  std::vector<std::string> heads;
  if (columns.empty()) {
    columns = {"trial", "id", "state"};
    heads = {"TRIAL", "ID", "STATE"};
    for (const std::string& name : sweep->file.names) {
      columns.push_back("param." + name);
      heads.push_back(Printable(name));
    }
    for (const char* name : {"value", "took", "hosts", "tags", "why"}) columns.emplace_back(name);
    heads.push_back(Printable(sweep->ValueName()));
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

Result<Diagnostics> ListSweeps(bool json, bool even_if_none) {
  const auto folder = DefaultSweepsFolder();
  if (!folder) return Fail(folder.error());
  std::vector<FoundRun> found = RunsBelow(*folder, kSweepDirectories);
  std::reverse(found.begin(), found.end());
  std::vector<std::vector<std::string>> rows = {
      {"NAME", "SWEEP", "STARTED", "STATE", "TRIALS", "IMPOSSIBLE", "OVER", "FAILED", "BEST", "TAGS", "NOTE"}};
  nlohmann::json list = nlohmann::json::array();
  Diagnostics unreadable;
  for (const FoundRun& one : found) {
    if (!HasJournal(one.path)) continue;
    const auto sweep = OpenSweepAt(one.path);
    const auto began = sweep ? sweep->view.Began() : Fail(sweep.error());
    if (!began) {
      unreadable.insert(unreadable.end(), began.error().begin(), began.error().end());
      continue;
    }
    const SweepProgress& account = sweep->view.account();
    const std::optional<double> best =
        account.best() ? std::optional(ObjectiveValue(sweep->file.objective, account.best()->loss)) : std::nullopt;
    const std::vector<std::string> tags = TagsOfRun(sweep->dir);
    const std::string note = NoteOfRun(sweep->dir);
    rows.push_back({Printable(account.name()), Printable(account.sweep_id()), TimeText(*began), sweep->State(),
                    std::to_string(account.trials()), std::to_string(account.impossible().size()),
                    std::to_string(account.over().size()), std::to_string(account.failed()),
                    best ? Printable(sweep->ValueName()) + " " + ShownNumber(*best) : "",
                    Printable(TagsText(TagValues(tags))), Printable(note)});
    list.push_back({{"sweep", account.sweep_id()},
                    {"name", Readable(account.name())},
                    {"sweep_dir", Readable(sweep->dir)},
                    {"started_at", *began},
                    {"state", sweep->State()},
                    {"trials", account.trials()},
                    {"over", account.over().size()},
                    {"impossible", account.impossible().size()},
                    {"failed", account.failed()},
                    {"best", ToJson(best ? Value(*best) : Value())},
                    {"tags", tags},
                    {"note", note.empty() ? nlohmann::json() : nlohmann::json(note)}});
  }
  if (rows.size() > 1) {
    LeaveOutIfEmpty(1, rows);  // TAGS
    LeaveOutIfEmpty(0, rows);  // NOTE
  }
  if (json) {
    const nlohmann::json object = {{"format", 1}, {"sweeps", std::move(list)}};
    std::printf("%s\n", SerializedJson(object, 2).c_str());
  } else if (rows.size() > 1 || even_if_none) {
    PrintTable(rows);
  }
  return unreadable;
}

}  // namespace muster
