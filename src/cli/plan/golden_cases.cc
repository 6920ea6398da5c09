#include "cli/plan/golden_cases.h"

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <sstream>
#include <system_error>
#include <utility>

#include <CLI/CLI.hpp>

#include "base/values/number_text.h"
#include "base/values/quoting.h"
#include "base/values/text_parts.h"
#include "cli/command/command.h"
#include "cli/command/small_file.h"
#include "cli/options/recipe_options.h"
#include "cli/options/start_settings.h"
#include "wire/files/run_layout.h"

namespace muster {
namespace {

namespace fs = std::filesystem;

// Regular files below a folder, by name; `enter` returns whether to descend into a folder.
template <class Enter>
std::vector<fs::path> FilesBelow(const fs::path& folder, Enter enter) {
  std::vector<fs::path> files;
  std::error_code error;
  fs::recursive_directory_iterator entries(folder, fs::directory_options::skip_permission_denied, error);
  for (; !error && entries != fs::recursive_directory_iterator(); entries.increment(error)) {
    const fs::path path = entries->path().lexically_normal();
    std::error_code unknown;
    if (entries->is_symlink(unknown)) continue;
    if (entries->is_directory(unknown)) {
      if (!enter(path)) entries.disable_recursion_pending();
    } else if (entries->is_regular_file(unknown)) {
      files.push_back(path);
    }
  }
  std::sort(files.begin(), files.end());
  return files;
}

bool IsCaseName(const std::string& name) {
  const auto fits = [](char c) { return IsLetterOrDigit(c) || c == '_' || c == '-'; };
  return !name.empty() && std::all_of(name.begin(), name.end(), fits);
}

}  // namespace

std::vector<std::string> LuaFilesBelow(const std::string& folder) {
  const fs::path base = fs::path(folder).lexically_normal();
  const auto enter = [&base](const fs::path& below) {
    std::error_code error;
    const bool is_run = fs::exists(below / kJournalEntry.name, error) && fs::exists(below / kPlanEntry.name, error);
    return !is_run && below.lexically_relative(base) != kGoldenFolder && !below.filename().string().starts_with('.');
  };
  std::vector<std::string> names;
  for (const fs::path& file : FilesBelow(folder, enter)) {
    if (file.extension() == ".lua" && !file.filename().string().starts_with('.')) {
      names.push_back(file.lexically_relative(base));
    }
  }
  return names;
}

std::vector<std::string> LuaFilesHere() { return LuaFilesBelow("."); }

std::string GoldenName(const std::string& recipe) { return fs::path(recipe).replace_extension(); }

Result<std::vector<GoldenCase>> WrittenCases(const std::string& recipe) {
  std::vector<GoldenCase> cases;
  const std::string stem = GoldenName(recipe);
  const std::string file = std::string(kGoldenFolder) + "/" + stem + ".cases";
  std::error_code error;
  if (!fs::exists(file, error)) return cases;
  auto text = ReadSmallFileHere(file);
  if (!text) return Fail(Error("cases", {file, 0}, text.error()));
  Diagnostics problems;
  std::set<std::string> names;
  std::istringstream lines(*text);
  std::uint32_t number = 0;
  for (std::string line; std::getline(lines, line);) {
    ++number;
    const std::size_t begin = line.find_first_not_of(" \t\r");
    if (begin == std::string::npos || line[begin] == '#') continue;
    const std::size_t colon = line.find(':');
    const std::string name = line.substr(begin, colon == std::string::npos ? colon : colon - begin);
    const auto refuse = [&](const std::string& message, const std::string& hint) {
      problems.push_back(Error("cases", {file, number}, message, hint));
    };
    if (colon == std::string::npos) {
      refuse("there is no ':' after the name of the case", "four-stages: pipeline_stages=4 --host n[1-4]:8");
      continue;
    }
    if (!IsCaseName(name)) {
      refuse(Quoted(name) + " is not a case name", "letters, digits, '_' and '-'");
      continue;
    }
    if (!names.insert(name).second) {
      refuse("there are two cases " + Quoted(name), "");
      continue;
    }
    auto words = ShellWords(line.substr(colon + 1));
    if (!words) {
      refuse(words.error(), "words are quoted as in a shell");
      continue;
    }
    cases.push_back({stem + "." + name, recipe, *std::move(words), {file, number}});
  }
  if (!problems.empty()) return Fail(std::move(problems));
  return cases;
}

std::vector<std::string> StaleGoldens(const std::set<std::string>& cases, const std::vector<std::string>& recipes) {
  std::set<std::string> stems;
  for (const std::string& recipe : recipes) stems.insert(GoldenName(recipe));
  std::vector<std::string> stale;
  for (const fs::path& file : FilesBelow(kGoldenFolder, [](const fs::path&) { return true; })) {
    const std::string extension = file.extension();
    const std::string name = fs::path(file.lexically_relative(kGoldenFolder)).replace_extension();
    const bool kept = extension == ".plan" || extension == ".err";
    if ((kept && !cases.contains(name)) || (extension == ".cases" && !stems.contains(name))) stale.push_back(file);
  }
  return stale;
}

namespace {

constexpr const char* kAssumedFolder = "/recipes";  // the assumed folder of the recipes

// The parsed words of a case, and its evaluation options.
struct CaseOptions {
  RecipeOptions recipe;
  PlanChanges changes;
  std::vector<std::string> variables;
  std::string memory;
  std::uint32_t devices = 0;
};

Result<CaseOptions> ReadWords(const GoldenCase& one) {
  CaseOptions options;
  Invocation invocation;
  std::vector<std::string> words = one.words;
  const auto dashes = std::find(words.begin(), words.end(), "--");
  if (dashes != words.end()) {
    invocation.words_after_dashes.assign(dashes + 1, words.end());
    words.erase(dashes, words.end());
  }
  CLI::App app;
  app.set_help_flag();
  AddRecipeOptions(app, options.recipe, invocation);
  AddPlanChanges(app, options.changes);
  app.add_option("--variable", options.variables)->allow_extra_args(false);
  app.add_option("--host-memory", options.memory);
  app.add_option("--host-devices", options.devices);
  words.insert(words.begin(), one.recipe);
  try {
    app.parse(std::vector<std::string>(words.rbegin(), words.rend()));
  } catch (const CLI::ParseError& error) {
    return Fail(Error("cases", one.place, error.what(),
                      "the options of muster plan, and --variable NAME=VALUE, --host-memory SIZE, --host-devices N"));
  }
  Site site;
  site.host_devices = options.devices;
  if (!options.memory.empty()) {
    const auto bytes = ParseBytes(options.memory);
    if (!bytes)
      return Fail(Error("cases", one.place, "--host-memory " + Quoted(options.memory) + " is not a size", "64GiB"));
    site.host_memory_bytes = static_cast<std::uint64_t>(*bytes);
  }
  options.recipe.believed = site;
  return options;
}

}  // namespace

Result<Evaluation> EvaluateCase(const GoldenCase& one, bool describe_only, const std::vector<Override>& more,
                                const std::function<void(unsigned seconds)>& on_wait, const std::string& mindspore) {
  const auto options = ReadWords(one);
  if (!options) return Fail(options.error());
  auto prepared = PrepareEvaluation(options->recipe);
  if (!prepared) return Fail(prepared.error());
  if (describe_only) prepared->task = PlanTask{EvaluationDepth::kParameters};
  prepared->reported_folder = kAssumedFolder;
  prepared->on_wait = on_wait;
  if (!mindspore.empty()) prepared->mindspore = mindspore;
  prepared->overrides.insert(prepared->overrides.end(), more.begin(), more.end());
  std::map<std::string, std::string> variables;
  for (const std::string& variable : options->variables) {
    const std::size_t equals = variable.find('=');
    if (equals == std::string::npos || equals == 0) {
      return Fail(Error("cases", one.place, "--variable " + Quoted(variable) + ": there is no '=' after a name"));
    }
    variables[variable.substr(0, equals)] = variable.substr(equals + 1);
  }
  prepared->variable = [variables](const std::string& name) -> std::optional<std::string> {
    const auto found = variables.find(name);
    return found == variables.end() ? std::nullopt : std::optional(found->second);
  };
  auto evaluation = EvaluateRecipe(*prepared);
  if (!evaluation || describe_only) return evaluation;
  if (auto changed = ApplyPlanChanges(evaluation->plan, options->changes); !changed) return Fail(changed.error());
  return evaluation;
}

}  // namespace muster
