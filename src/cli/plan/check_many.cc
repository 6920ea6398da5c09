#include "cli/plan/check_many.h"

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <map>
#include <utility>

#include <nlohmann/json.hpp>

#include "base/values/columns.h"
#include "base/values/json_text.h"
#include "base/values/printable_lines.h"
#include "base/values/shell_quote.h"
#include "cli/command/exit_code.h"
#include "cli/command/print_diagnostics.h"
#include "cli/lookup/run_argument.h"
#include "cli/options/named_hosts.h"
#include "cli/plan/check_programs.h"
#include "cli/plan/check_releases.h"
#include "cli/plan/golden_cases.h"

namespace muster {
namespace {

namespace fs = std::filesystem;

struct ManyFile {
  std::string path;
  bool of_folder = false;
};

// One line of the table.
struct CheckedRecipe {
  std::string recipe;
  std::string skipped;  // why; empty: it was checked
  Diagnostics problems;
  std::string size;      // "8 on 2 hosts"; empty without a plan
  std::string releases;  // what other releases say of it
  nlohmann::json release_json;
  int code = kExitOk;
};

// A run directory, or a folder that has the name of a run, is a RUN.
bool IsFolderOfRecipes(const std::string& word) {
  std::error_code error;
  return fs::is_directory(word, error) && !FindRun(word, DirectoryUse::kRead);
}

bool NamesRecipes(const std::string& word) {
  return word.find('=') == std::string::npos && (word.ends_with(".lua") || IsFolderOfRecipes(word));
}

std::string Counted(const Diagnostics& problems) {
  const auto errors = std::count_if(problems.begin(), problems.end(),
                                    [](const Diagnostic& one) { return one.severity == Severity::kError; });
  const auto warnings = static_cast<std::ptrdiff_t>(problems.size()) - errors;
  const auto text = [](std::ptrdiff_t count, const char* what) {
    return count == 0 ? std::string() : std::to_string(count) + " " + what + (count == 1 ? "" : "s");
  };
  const std::string first = text(errors, "error");
  const std::string second = text(warnings, "warning");
  return problems.empty() ? "ok" : first + (errors > 0 && warnings > 0 ? ", " : "") + second;
}

// The parameters without a value; empty if the recipe lacks none, or cannot be read.
std::string MissingValues(const RecipeOptions& options) {
  const auto described = EvaluateFrom(options, EvaluationDepth::kParameters);
  std::string names;
  if (!described) return names;
  for (const ParameterState& state : described->parameters) {
    if (state.active && !state.value) names += (names.empty() ? "" : ", ") + state.parameter.name;
  }
  return names;
}

// "ok", "2 errors"; for several releases those that differ: "1.9: 1 error, 2.0: 1 error, 2 warnings".
std::string ReleasesText(const ReleaseChecks& checks) {
  if (checks.checks.empty()) return "no release";
  std::string text;
  for (const ReleaseCheck& check : checks.checks) {
    if (check.findings.empty()) continue;
    if (checks.checks.size() > 1) text += (text.empty() ? "" : "; ") + ReleaseText(check.release) + ": ";
    text += Counted(check.findings);
  }
  return text.empty() ? "ok" : text;
}

void CheckOn(const RecipeOptions& options, const Result<Evaluation>& evaluation, const std::string& mindspore,
             bool json, CheckedRecipe& checked) {
  const auto checks = CheckReleases(options, evaluation, mindspore);
  if (!checks) {
    checked.problems = checks.error();
    checked.code = ExitCodeFor(checks.error());
    return;
  }
  checked.releases = ReleasesText(*checks);
  checked.release_json = ReleasesAsJson(*checks);
  for (const ReleaseCheck& check : checks->checks) {
    checked.code = std::max(checked.code, ExitCodeFor(check.findings));
    if (json || check.fresh.empty()) continue;
    std::fprintf(stderr, "%s on MindSpore %s:\n", Printable(options.recipe).c_str(),
                 PrintableLines(ReleaseText(check.release)).c_str());
    PrintDiagnostics(check.fresh);
  }
}

CheckedRecipe CheckOne(const RecipeOptions& shared, const ManyFile& file, const std::string& mindspore, bool json) {
  RecipeOptions options = shared;
  options.recipe = file.path;
  CheckedRecipe checked;
  checked.recipe = file.path;
  auto evaluation = EvaluateFrom(options);
  if (!evaluation && file.of_folder) {
    const Diagnostics& problems = evaluation.error();
    if (problems.size() == 1 && problems.front().kind == "no_recipe") {
      checked.skipped = "it returns no recipe";
    } else if (const std::string names = MissingValues(options); !names.empty()) {
      checked.skipped = "it needs a value for " + names;
    }
    if (!checked.skipped.empty()) return checked;
  }
  if (evaluation && !NamesHosts(options) && mindspore.empty()) {
    const Diagnostics missing = MissingPrograms(evaluation->plan, options.recipe);
    evaluation->warnings.insert(evaluation->warnings.end(), missing.begin(), missing.end());
  }
  checked.problems = evaluation ? evaluation->warnings : evaluation.error();
  checked.code = ExitCodeFor(checked.problems);
  if (evaluation) {
    const std::size_t hosts = evaluation->plan.hosts.size();
    checked.size = std::to_string(evaluation->plan.processes.size()) + " on " + std::to_string(hosts) +
                   (hosts == 1 ? " host" : " hosts");
  }
  if (!json) PrintDiagnostics(checked.problems);
  if (!mindspore.empty()) CheckOn(options, evaluation, mindspore, json, checked);
  return checked;
}

std::string ResultOf(const CheckedRecipe& one) { return one.skipped.empty() ? Counted(one.problems) : "skipped"; }

std::string SummaryOf(const std::vector<CheckedRecipe>& all) {
  std::size_t good = 0, skipped = 0;
  for (const CheckedRecipe& one : all) {
    good += one.skipped.empty() && one.code == kExitOk ? 1 : 0;
    skipped += one.skipped.empty() ? 0 : 1;
  }
  const std::size_t bad = all.size() - good - skipped;
  std::string text = std::to_string(all.size() - skipped) + (all.size() - skipped == 1 ? " recipe: " : " recipes: ") +
                     std::to_string(good) + " ok";
  if (bad > 0) text += ", " + std::to_string(bad) + " with errors";
  if (skipped > 0) text += "; " + std::to_string(skipped) + (skipped == 1 ? " file skipped" : " files skipped");
  return text;
}

void PrintCheckTable(const std::vector<CheckedRecipe>& all, const std::string& mindspore) {
  std::vector<std::vector<std::string>> rows = {{"recipe", "result", "processes"}};
  if (!mindspore.empty())
    rows.front().push_back(mindspore == "all" ? "on other releases" : "on MindSpore " + mindspore);
  for (const CheckedRecipe& one : all) {
    rows.push_back({Printable(one.recipe), ResultOf(one), one.skipped.empty() ? one.size : Printable(one.skipped)});
    if (!mindspore.empty()) rows.back().push_back(one.releases);
  }
  std::vector<std::size_t> widths(rows.front().size(), 0);
  for (const auto& row : rows) {
    for (std::size_t i = 0; i + 1 < row.size(); ++i) widths[i] = std::max(widths[i], Columns(row[i]));
  }
  for (const auto& row : rows) {
    std::string line;
    for (std::size_t i = 0; i < row.size(); ++i) {
      line += row[i];
      if (i + 1 < row.size()) line.append(widths[i] - Columns(row[i]) + 2, ' ');
    }
    line.erase(line.find_last_not_of(' ') + 1);
    std::printf("%s\n", PrintableLines(line).c_str());
  }
  std::printf("%s\n", PrintableLines(SummaryOf(all)).c_str());
}

void PrintManyJson(const std::vector<CheckedRecipe>& all, const std::string& mindspore, int code) {
  auto recipes = nlohmann::json::array();
  for (const CheckedRecipe& one : all) {
    nlohmann::json entry = {{"recipe", one.recipe},
                            {"ok", one.code == kExitOk},
                            {"skipped", one.skipped.empty() ? nlohmann::json() : nlohmann::json(one.skipped)},
                            {"diagnostics", DiagnosticsAsJson(one.problems)}};
    if (!mindspore.empty()) entry["releases"] = one.release_json.is_null() ? nlohmann::json::array() : one.release_json;
    recipes.push_back(std::move(entry));
  }
  const nlohmann::json whole = {
      {"format", 1}, {"ok", code == kExitOk}, {"recipes", std::move(recipes)}, {"summary", SummaryOf(all)}};
  std::printf("%s\n", SerializedJson(whole, 2).c_str());
}

}  // namespace

std::vector<std::string> TakeManyRecipes(RecipeOptions& options) {
  std::vector<std::string> names = {options.recipe};
  for (const std::string& word : options.overrides) {
    if (NamesRecipes(word)) names.push_back(word);
  }
  if (names.size() == 1 && !IsFolderOfRecipes(options.recipe)) return {};
  std::erase_if(options.overrides, NamesRecipes);
  return names;
}

int CheckMany(const RecipeOptions& options, const std::vector<std::string>& names, const std::string& mindspore,
              bool json) {
  std::vector<ManyFile> files;
  for (const std::string& name : names) {
    std::error_code error;
    if (!fs::is_directory(name, error)) {
      files.push_back({name, false});
      continue;
    }
    const std::size_t before = files.size();
    for (const std::string& file : LuaFilesBelow(name)) {
      files.push_back({name == "." ? file : (fs::path(name) / file).lexically_normal().string(), true});
    }
    if (files.size() == before) {
      return Refuse({Error("usage", {}, "there is no Lua file in " + Quoted(name), "a recipe is a Lua file")}, json);
    }
  }
  std::vector<CheckedRecipe> all;
  int code = kExitOk;
  for (const ManyFile& file : files) {
    all.push_back(CheckOne(options, file, mindspore, json));
    code = std::max(code, all.back().code);
  }
  std::fflush(stderr);
  if (json) {
    PrintManyJson(all, mindspore, code);
  } else {
    PrintCheckTable(all, mindspore);
  }
  return code;
}

}  // namespace muster
