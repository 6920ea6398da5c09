// Writes the files of a run directory that define the run, together at its start, and reads the plan back.
// docs/run_directory.md describes their content. The journal, the logs and the binding are written elsewhere.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "base/system/unique_fd.h"
#include "muster/plan.h"
#include "muster/result.h"
#include "muster/value.h"
#include "run/directory/private_files.h"

namespace muster {

struct RunFiles {
  const Plan& plan;
  const std::string& plan_id;
  const Value& inputs;
  const Value& evaluation;                              // how the sources were evaluated; null if they were not
  const std::map<std::string, std::string>& inherited;  // RecordedVariables
  const std::map<std::string, std::string>& sources;    // contents by path below recipe/
  const std::string& linked_sources;                    // folder with the same files, to hard-link them; or empty
  std::string_view plan_text;                           // PlanText, for plan.txt; empty: without that file
  bool again = false;  // the files exist from the submission of the run: plan.json and plan.txt are replaced
};

// Writes the part of a run directory that can be used as a recipe (cli/lookup/stored_recipe.h): recipe/ and
// inputs.json.
Result<void> WriteRecipe(int folder, const Value& inputs, const Value& evaluation,
                         const std::map<std::string, std::string>& inherited,
                         const std::map<std::string, std::string>& sources, const std::string& linked_sources = {});

// Replaces these files; hard links to the old ones keep their content. Other files in recipe/ stay.
Result<void> ReplaceRecipe(int folder, const Value& inputs, const Value& evaluation,
                           const std::map<std::string, std::string>& sources);

// Writes plan.json, plan.txt, inputs.json, recipe/, and the folders errors/, metrics/ and logs/. Returns the open
// folder logs/.
Result<UniqueFd> WriteRunFiles(int folder, const RunFiles& run);

// The text of plan.json. Kind "run" if `folder`, which is `run_dir` opened, has none.
Result<std::string> ReadPlanJson(int folder, const std::string& run_dir);

}  // namespace muster
