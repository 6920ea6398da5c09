#include "sweep/record/sweep_directory.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/system/private_files.h"
#include "base/values/quoting.h"
#include "base/values/text_parts.h"
#include "space/sweep_fields.h"
#include "sweep/record/sweep_edit.h"
#include "wire/archive/json_fields.h"
#include "wire/archive/json_schema.h"

namespace muster {
namespace {

constexpr std::size_t kFirstDigits = 2;

tl::unexpected<Diagnostics> Unreadable(const std::string& sweep_dir, const std::string& why) {
  return Fail(Error("sweep", {}, fmt::format("{} is not a readable sweep: {}", Quoted(sweep_dir), why),
                    "a sweep directory holds sweep.json and journal.jsonl"));
}

}  // namespace

std::string SweepsFolder(const std::string& cwd, std::string_view muster_home) {
  return muster_home.empty() ? cwd + "/sweeps" : std::string(muster_home) + "/sweeps";
}

Result<RunDirectory> MakeSweepDirectory(const std::string& sweeps_folder, std::string_view name, std::string_view stamp,
                                        std::string_view sweep_id, bool for_group) {
  return RunDirectory::MakeBelow(sweeps_folder, name, stamp, sweep_id, for_group, kSweepDirectories);
}

Result<RunDirectory> HoldSweepDirectory(const std::string& sweep_dir) {
  return RunDirectory::HoldAgain(sweep_dir, kSweepDirectories);
}

Result<std::string> ResolveSweep(std::string_view sweep, const std::string& sweeps_folder, DirectoryUse use) {
  return ResolveRun(sweep, sweeps_folder, kSweepDirectories, use);
}

std::string TrialFolder(std::string_view id, std::uint32_t attempt) {
  std::string name(id);
  for (char& c : name) {
    const bool digit = IsDigit(c) || (c >= 'a' && c <= 'f');
    if (!digit) c = '_';
  }
  return fmt::format("{}/{}/{}.{}", kTrialsEntry.name, name.substr(0, kFirstDigits), name, attempt);
}

namespace {

// sweep.json. Members are in the order of their names.
struct StoredSweep {
  std::int64_t format = 1;
  SweepFile file;
  Value description;
};

struct StoredObjective {
  bool maximize = false;
  std::string metric;
};
template <class V>
void Fields(V& v, StoredObjective& objective) {
  v("maximize", objective.maximize), v("metric", objective.metric);
}

template <class V>
void Fields(V& v, StoredSweep& stored) {
  SweepFile& file = stored.file;
  std::optional<StoredObjective> objective;
  if (file.objective) objective = {file.objective->maximize, file.objective->metric};
  v("cwd", file.cwd), v("description", stored.description), v("doc", file.doc);
  v("format", stored.format), v("former_names", file.former_names), v("name", file.name), v("names", file.names);
  v("objective", objective), v("sweep", file.sweep_id), v("trials", file.trials), v("words", file.words);
  if constexpr (V::kReading) {
    if (objective) file.objective = {.metric = objective->metric, .maximize = objective->maximize};
  }
}

// What is read of the description.
struct StoredChoices {
  BudgetChoice budget;
  std::optional<EarlyStopChoice> early_stop;
  MetricsChoice metrics;
  std::optional<Objective> second_objective;
};
template <class V>
void Fields(V& v, StoredChoices& choices) {
  v("budget", choices.budget), v("early_stop", choices.early_stop), v("metrics", choices.metrics);
  v("second_objective", choices.second_objective);
}

struct SweepFileShapes : NoForms {
  // The description: the only value of any kind.
  template <std::same_as<Value> V>
  static std::string Schema(auto&, const V&) {
    return SweepDescriptionSchema("#/properties/description");
  }
};

}  // namespace

std::string SweepFileSchema() {
  StoredSweep stored{1, {}, {}};
  stored.file.objective.emplace();
  return SchemaOf<SweepFileShapes>(stored);
}

std::string SweepFileText(const SweepFile& file, const Value& description) {
  return JsonOf(StoredSweep{1, file, description}) + "\n";
}

namespace {

Result<StoredSweep> StoredFrom(const std::string& text, const std::string& sweep_dir) {
  const auto json = ValueFromJsonText(text);
  if (!json || json->AsMap() == nullptr) return Unreadable(sweep_dir, "sweep.json is not a JSON object");
  StoredSweep stored{0, {}, {}};
  JsonReader(JsonReading::kLenient).Get(*json, stored);
  if (stored.format != 1) return Unreadable(sweep_dir, "sweep.json is of another format");
  return stored;
}

Result<StoredSweep> ReadStored(const std::string& sweep_dir) {
  const auto text = ReadWholeFile(kSweepEntry.In(sweep_dir), kSweepEntry.most);
  if (!text) return Unreadable(sweep_dir, text.error().front().message);
  return StoredFrom(*text, sweep_dir);
}

SweepFile FileOf(StoredSweep stored) {
  StoredChoices choices;
  JsonReader(JsonReading::kLenient).Get(stored.description, choices);
  SweepFile file = std::move(stored.file);
  file.slots = choices.budget.slots.value_or(0);
  if (choices.early_stop) file.resource = choices.early_stop->resource;
  file.metrics = std::move(choices.metrics);
  file.second_objective = std::move(choices.second_objective);
  file.budget = choices.budget;
  return file;
}

}  // namespace

Result<std::pair<SweepFile, SweepDescription>> ParseSweepFile(const std::string& text, const std::string& sweep_dir) {
  auto stored = StoredFrom(text, sweep_dir);
  if (!stored) return Fail(stored.error());
  SweepDescription sweep = SweepDescriptionFrom(stored->description);
  return std::pair(FileOf(*std::move(stored)), std::move(sweep));
}

Result<SweepDescription> ReadSweepDescription(const std::string& sweep_dir) {
  const auto stored = ReadStored(sweep_dir);
  if (!stored) return Fail(stored.error());
  SweepDescription sweep = SweepDescriptionFrom(stored->description);
  SamplerChoice& sampler = sweep.sampler;
  if (sampler.edited_at == 0) return sweep;
  const auto trials = ReadTrialsSoFar(sweep_dir, sampler.edited_at);
  if (!trials) return Fail(trials.error());
  auto kept = KeptPoints(*trials, sampler.edited_at, sweep.space, sampler);
  if (!kept) return Fail(kept.error());
  sampler.kept = *std::move(kept);
  return sweep;
}

Result<SweepFile> ReadSweepFile(const std::string& sweep_dir) {
  auto stored = ReadStored(sweep_dir);
  if (!stored) return Fail(stored.error());
  return FileOf(*std::move(stored));
}

}  // namespace muster
