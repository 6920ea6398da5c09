// Recipes besides the file that a user names: the available ones with their summaries (muster's own, those in and
// below the current folder, and those of the site's libraries), and the stored recipe of a run, so that a RUN can be
// given instead of a recipe (docs/run_directory.md).
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "evaluator/evaluator.h"
#include "muster/diagnostic.h"
#include "muster/result.h"
#include "muster/value.h"
#include "run/directory/run_directory.h"

namespace muster {

// muster ls --recipes: the available recipes with their summaries: muster's own, those in and below the current folder,
// and those of the site's libraries.

struct ListedRecipe {
  std::string recipe;  // as on the command line: "@torch", "recipes/gpt.lua", "@acme/gpt"
  std::string file;    // empty for muster's own
  std::string name;
  std::string doc;
  std::size_t parameters = 0;
  Diagnostics problems;  // why it cannot be described; then the three fields before are empty
};

// In that order, each part sorted by name. Omits Lua files that are no recipes (modules, rules, site files); includes
// broken recipes with their problems. Searches the current folder, ./recipes and the libraries' folders. Fails if the
// site is invalid.
Result<std::vector<ListedRecipe>> ListRecipes();

// "@acme/gpt", …: only names, of files that look like recipes; none if the site is invalid.
std::vector<std::string> LibraryRecipes();

void PrintRecipes(const std::vector<ListedRecipe>& recipes);
void PrintRecipesJson(const std::vector<ListedRecipe>& recipes);

// Prints the list; returns the exit code.
int ShowRecipes(bool json);

// The stored recipe of a run, from its run directory, so that a RUN can be given instead of a recipe. The sources are
// below recipe/, the evaluation options in inputs.json (docs/run_directory.md).

// The evaluation options for inputs.json: overrides, words, site and folder. Of files given as name@=FILE only the
// paths are included.
Value EvaluationRecord(const EvaluationOptions& options);

// The run directory that the word names, if it names no recipe: neither a file nor one of muster's own. The plan may be
// executed: a run of another user must be named by its path.
std::optional<std::string> RunMeant(const std::string& word, DirectoryUse use = DirectoryUse::kExecute);

// For a word that names a run of another user: the owner, and how to name it (ResolveRun).
std::optional<Diagnostics> ForeignRunMeant(const std::string& word);

// Why a word such as SWEEP:99 names no trial, if it is no file.
std::optional<Diagnostics> TrialMissed(const std::string& word);

// The options to repeat the evaluation with the stored sources. muster.here returns the original folder. Kind "run" if
// the directory has no sources or evaluation options, as for a run of a plan file.
Result<EvaluationOptions> EvaluationOfRun(const std::string& run_dir);

// The id of the run. Kind "run" if its journal has no first record.
Result<std::string> IdOfRun(const std::string& run_dir);

// The plan to run again, and its origin; `evaluation` (EvaluationRecord) is null, and there are no sources, if that run
// was of a plan file. Kinds "run" and "plan_json".
struct StoredPlan {
  Plan plan;
  Value inputs = Value(Value::List{});
  Value evaluation;
  std::map<std::string, std::string> sources;
};
Result<StoredPlan> PlanOfRun(const std::string& run_dir);

// Path below recipe/ -> bytes; empty if there are none.
Result<std::map<std::string, std::string>> SourcesOfRun(const std::string& run_dir);

}  // namespace muster
