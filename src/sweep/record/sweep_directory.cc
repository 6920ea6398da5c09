#include "sweep/record/sweep_directory.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/values/quoting.h"
#include "base/values/value_text.h"
#include "run/directory/private_files.h"
#include "settings/values/value_json.h"

namespace muster {
namespace {

constexpr std::size_t kFirstDigits = 2;

Value Texts(const std::vector<std::string>& texts) {
  Value::List list;
  for (const std::string& text : texts) list.emplace_back(Readable(text));
  return Value(std::move(list));
}

Result<SweepFile> Unreadable(const std::string& sweep_dir, const std::string& why) {
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
    const bool digit = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
    if (!digit) c = '_';
  }
  return fmt::format("{}/{}/{}.{}", kTrialsEntry.name, name.substr(0, kFirstDigits), name, attempt);
}

namespace {

MetricsChoice MetricsIn(const Value& described) {
  MetricsChoice metrics;
  metrics.role = TextField(described, "role");
  const Value* patterns = FieldOf(described, "stdout");
  if (patterns == nullptr || patterns->AsMap() == nullptr) return metrics;
  for (const auto& [metric, pattern] : *patterns->AsMap()) {
    if (pattern.AsString() != nullptr) metrics.patterns.emplace(metric, *pattern.AsString());
  }
  return metrics;
}

}  // namespace

std::string SweepFileText(const SweepFile& file, const Value& description) {
  Value objective;
  if (file.objective) {
    objective = Value(Value::Map{{"metric", Readable(file.objective->metric)}, {"maximize", file.objective->maximize}});
  }
  Value::Map former;
  for (const auto& [name, was] : file.former_names) former.emplace(Readable(name), Readable(was));
  return JsonText(Value(Value::Map{{"format", 1},
                                   {"sweep", file.sweep_id},
                                   {"name", Readable(file.name)},
                                   {"doc", Readable(file.doc)},
                                   {"description", description},
                                   {"objective", std::move(objective)},
                                   {"names", Texts(file.names)},
                                   {"former_names", Value(std::move(former))},
                                   {"trials", static_cast<std::int64_t>(file.trials)},
                                   {"words", Texts(file.words)},
                                   {"cwd", Readable(file.cwd)}})) +
         "\n";
}

Result<SweepFile> ReadSweepFile(const std::string& sweep_dir) {
  const auto text = ReadWholeFile(kSweepEntry.In(sweep_dir), kSweepEntry.most);
  if (!text) return Unreadable(sweep_dir, text.error().front().message);
  const auto json = ValueFromJsonText(*text);
  if (!json || json->AsMap() == nullptr) return Unreadable(sweep_dir, "sweep.json is not a JSON object");
  const Value* format = FieldOf(*json, "format");
  if (format == nullptr || *format != Value(1)) return Unreadable(sweep_dir, "sweep.json is of another format");
  SweepFile file;
  file.sweep_id = TextField(*json, "sweep");
  file.name = TextField(*json, "name");
  file.doc = TextField(*json, "doc");
  file.names = TextsField(*json, "names");
  if (const Value* former = FieldOf(*json, "former_names"); former != nullptr && former->AsMap() != nullptr) {
    for (const auto& [name, was] : *former->AsMap()) {
      if (was.AsString() != nullptr) file.former_names.emplace(name, *was.AsString());
    }
  }
  file.words = TextsField(*json, "words");
  file.cwd = TextField(*json, "cwd");
  file.trials = static_cast<std::uint64_t>(std::max<std::int64_t>(NumberField(*json, "trials"), 0));
  if (const Value* description = FieldOf(*json, "description")) {
    const Value* budget = FieldOf(*description, "budget");
    if (budget != nullptr)
      file.slots = static_cast<std::uint64_t>(std::max<std::int64_t>(NumberField(*budget, "slots"), 0));
    const Value* early_stop = FieldOf(*description, "early_stop");
    if (early_stop != nullptr) file.resource = TextField(*early_stop, "resource");
    if (const Value* metrics = FieldOf(*description, "metrics")) file.metrics = MetricsIn(*metrics);
    for (const auto& [name, member] : {std::pair("trials", &file.most_trials), std::pair("time_ms", &file.most_ms)}) {
      const Value* most = budget == nullptr ? nullptr : FieldOf(*budget, name);
      if (most != nullptr && most->AsInt() != nullptr && *most->AsInt() >= 0) {
        *member = static_cast<std::uint64_t>(*most->AsInt());
      }
    }
  }
  if (const Value* objective = FieldOf(*json, "objective"); objective != nullptr && objective->AsMap() != nullptr) {
    file.objective.emplace().metric = TextField(*objective, "metric");
    file.objective->maximize = TruthField(*objective, "maximize");
  }
  return file;
}

}  // namespace muster
