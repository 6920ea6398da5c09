// The files of a run directory that define the run: written together at the beginning, and the plan read back.
// docs/run_directory.md describes their content. The journal, the logs and the binding are written elsewhere.
#pragma once

#include <map>
#include <string>

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
  const Value& evaluation;                              // how the sources were evaluated; null: they were not
  const std::map<std::string, std::string>& inherited;  // RecordedVariables
  const std::map<std::string, std::string>& sources;    // bytes by paths below recipe/
  const std::string& linked_sources;                    // a folder that holds the same, to link them from; or empty
  bool with_plan_text = true;
};

// Of a folder that stands for a recipe (cli/options/stored_recipe.h) what is needed for that: recipe/ and inputs.json.
Result<void> WriteRecipe(int folder, const Value& inputs, const Value& evaluation,
                         const std::map<std::string, std::string>& inherited,
                         const std::map<std::string, std::string>& sources, const std::string& linked_sources = {});

// The same in the place of what is there; what is linked to that keeps what it was. Files of recipe/ besides stay.
Result<void> ReplaceRecipe(int folder, const Value& inputs, const Value& evaluation,
                           const std::map<std::string, std::string>& sources);

// plan.json, plan.txt, inputs.json, recipe/, and the folders errors/, metrics/ and logs/. The folder logs/, open.
Result<UniqueFd> WriteRunFiles(int folder, const RunFiles& run);

// plan.json as it stands. Kind "run" if `folder`, which is `run_dir` open, has none.
Result<std::string> ReadPlanJson(int folder, const std::string& run_dir);

}  // namespace muster
