// The recipe of a run: what its run directory keeps of how the plan was made, so that a RUN can stand where a recipe is
// expected. The sources lie below recipe/, how they were evaluated is in inputs.json (docs/run_directory.md).
#pragma once

#include <map>
#include <optional>
#include <string>

#include "evaluator/evaluator.h"
#include "muster/result.h"
#include "muster/value.h"
#include "run/directory/directory_owner.h"

namespace muster {

// How the recipe was evaluated, for inputs.json: overrides, words, site and folder. Contents of files that were given
// as name@=FILE are not in it, only their paths.
Value EvaluationRecord(const EvaluationOptions& options);

// The run directory that the word names, if it names no recipe: neither a file nor one of muster's own. What is planned
// from it may be executed: one of another user is named by its path.
std::optional<std::string> RunMeant(const std::string& word, DirectoryUse use = DirectoryUse::kExecute);

// Of a word that would mean a run if that were one's own: whose it is, and how it is named (ResolveRun).
std::optional<Diagnostics> ForeignRunMeant(const std::string& word);

// The same evaluation again, of the stored sources. muster.here names what lay beside the recipe then. Kind "run" if
// the directory has no sources, or nothing of how they were evaluated: a run of a plan file has neither.
Result<EvaluationOptions> EvaluationOfRun(const std::string& run_dir);

// The id of the run. Kind "run" if its journal has no beginning.
Result<std::string> IdOfRun(const std::string& run_dir);

// What is run again, and what it was made of; `evaluation` (EvaluationRecord) is null, and there are no sources, if
// that run was of a plan file. Kinds "run" and "plan_json".
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
