#include "cli/sweeps/sweep_changes.h"

#include <cstdlib>
#include <filesystem>

#include <fmt/format.h>

#include "base/values/fingerprint.h"
#include "base/values/json_text.h"
#include "base/values/line_diff.h"
#include "base/values/sha256.h"
#include "base/values/shell_quote.h"
#include "cli/command/small_file.h"
#include "cli/lookup/stored_recipe.h"
#include "cli/sweeps/sweep_options.h"
#include "run/directory/private_files.h"
#include "settings/values/value_field.h"
#include "settings/values/value_json.h"
#include "sweep/record/sweep_directory.h"
#include "wire/files/run_layout.h"

namespace muster {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostLines = 40;  // shown of the changes of a file

// "  - lr = 0.1", "  + lr = 0.2".
std::string ChangesText(const std::string& path, const std::string& before, const std::string& now) {
  std::string text = Printable(path) + " has changed:\n";
  const std::vector<LineChange> changes = DiffLines(before, now);
  for (std::size_t i = 0; i < changes.size() && i < kMostLines; ++i) {
    text += fmt::format("  {} {:>4}  {}\n", changes[i].added ? '+' : '-', changes[i].line, Printable(changes[i].text));
  }
  if (changes.size() > kMostLines) text += fmt::format("  … and {} more lines\n", changes.size() - kMostLines);
  return text;
}

// The original path of a file below recipe/; empty for muster's own.
fs::path OriginalOf(const std::string& path, const EvaluationOptions& options) {
  if (!path.starts_with('@')) return fs::path(options.beside) / path;
  const std::size_t slash = path.find('/');
  const auto library = options.libraries.find(path.substr(1, slash == std::string::npos ? slash : slash - 1));
  if (slash == std::string::npos || library == options.libraries.end()) return {};
  return fs::path(library->second.beside) / path.substr(slash + 1);
}

Result<Value> ReadJson(const std::string& file, std::size_t most) {
  const auto text = ReadSmallFile(file, most);
  if (!text) return Fail(Error("sweep", {}, text.error()));
  auto json = ValueFromJsonText(*text);
  if (!json) return Fail(Error("sweep", {file, 0}, json.error()));
  return *std::move(json);
}

Result<Value> InputsOf(const std::string& sweep_dir) {
  return ReadJson(sweep_dir + "/" + kInputsEntry.name, kInputsEntry.most);
}

// How to get as many points as before: more trials of a sampler begin with the same ones.
std::string PointsText(const Value& description) {
  const Value* space = FieldOf(description, "space");
  const Value* drawn = FieldOf(description, "sampler");
  Value::Map sampler = drawn == nullptr || drawn->AsMap() == nullptr ? Value::Map() : *drawn->AsMap();
  sampler.erase("trials");
  return JsonText(Value(Value::List{space == nullptr ? Value() : *space, Value(std::move(sampler))}));
}

std::string HashOfVariable(const std::string& name) {
  const char* value = std::getenv(name.c_str());
  return value == nullptr ? std::string() : Sha256Hex(value);
}

}  // namespace

Result<std::string> ChangesOfSweep(const std::string& sweep_dir) {
  const auto options = EvaluationOfRun(sweep_dir);
  if (!options) return Fail(options.error());
  const auto sources = SourcesOfRun(sweep_dir);
  if (!sources) return Fail(sources.error());
  std::string changes;
  for (const auto& [path, before] : *sources) {
    const fs::path original = OriginalOf(path, *options);
    std::error_code error;
    if (original.empty() || !fs::is_regular_file(original, error)) continue;
    const auto now = ReadSmallFile(original);
    if (!now || *now == before) continue;
    changes += ChangesText(original, before, *now);
  }
  const auto inputs = InputsOf(sweep_dir);
  if (!inputs) return Fail(inputs.error());
  const Value* list = FieldOf(*inputs, "inputs");
  if (list == nullptr || list->AsList() == nullptr) return changes;
  for (const Value& input : *list->AsList()) {
    if (TextField(input, "kind") != "variable") continue;
    const std::string name = TextField(input, "name");
    if (HashOfVariable(name) == TextField(input, "sha256")) continue;
    changes += fmt::format("the variable {} has another value\n", Printable(name));
  }
  return changes;
}

Result<std::string> RecipeHashOf(const std::string& sweep_dir) {
  constexpr std::size_t kDigits = 16;
  const auto inputs = ReadSmallFile(sweep_dir + "/" + kInputsEntry.name, kInputsEntry.most);
  if (!inputs) return Fail(Error("sweep", {}, inputs.error()));
  const auto sources = SourcesOfRun(sweep_dir);
  if (!sources) return Fail(sources.error());
  Sha256 hash;
  hash.Add(*inputs);
  for (const auto& [path, bytes] : *sources) hash.Add('\0' + path + '\0' + Sha256Hex(bytes));
  return hash.Hex().substr(0, kDigits);
}

Result<void> KeepDraws(const std::string& sweep_dir, SweepDescription& sweep) {
  const auto file = ReadJson(sweep_dir + "/" + kSweepDirectories.marker, kInputsEntry.most);
  if (!file) return Fail(file.error());
  const Value* description = FieldOf(*file, "description");
  if (description == nullptr || FieldOf(*description, "branches") != nullptr) return {};
  sweep.sampler.weighted = false;
  ForgetEvenWeights(sweep.space);
  return {};
}

Result<void> CheckSameSweep(const std::string& sweep_dir, const SweepDescription& sweep) {
  const auto file = ReadJson(sweep_dir + "/" + kSweepDirectories.marker, kInputsEntry.most);
  if (!file) return Fail(file.error());
  const auto now = ValueFromJsonText(JsonText(SweepDescriptionValue(sweep)));
  const Value* before = FieldOf(*file, "description");
  const bool readable = before != nullptr && now.has_value();
  if (readable && PointsText(*before) == PointsText(*now)) {
    for (const char* name : {"objective", "early_stop"}) {
      const Value* const then = FieldOf(*before, name);
      const Value* const said = FieldOf(*now, name);
      if ((then == nullptr ? Value() : *then) == (said == nullptr ? Value() : *said)) continue;
      return Fail(Error("rules_changed", {}, fmt::format("{} is another one than when the sweep began", name),
                        "finished trials were compared by it; restore it, or start another sweep"));
    }
    return {};
  }
  return Fail(Error("points_changed", {}, "the space or the sampler differs from when the sweep began",
                    "its trials are numbers of points: restore the recipe as it was (its copy is in " +
                        Quoted(sweep_dir + "/recipe") + "), or start another sweep with muster sweep"));
}

}  // namespace muster
