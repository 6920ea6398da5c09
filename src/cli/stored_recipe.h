// The recipe of a run: what its run directory keeps of how the plan was made, so that a RUN can stand where a recipe is
// expected. The sources lie below recipe/, how they were evaluated is in inputs.json (docs/run_directory.md).
#pragma once

#include <optional>
#include <string>

#include "evaluator/evaluate.h"
#include "muster/result.h"
#include "muster/value.h"

namespace muster {

// How the recipe was evaluated, for inputs.json: overrides, words, site and folder. Contents of files that were given as
// name@=FILE are not in it, only their paths.
Value EvaluationRecord(const EvaluationOptions& options);

// The run directory that the word names, if it names no recipe: neither a file nor one of muster's own.
std::optional<std::string> RunMeant(const std::string& word);

// The same evaluation again, of the stored sources. muster.here names what lay beside the recipe then. Kind "run" if the
// directory has no sources, or nothing of how they were evaluated: a run of a plan file has neither.
Result<EvaluationOptions> EvaluationOfRun(const std::string& run_dir);

// Path below recipe/ -> bytes; empty if there are none.
Result<std::map<std::string, std::string>> SourcesOfRun(const std::string& run_dir);

}  // namespace muster
