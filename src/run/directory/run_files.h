// The files of a run directory that define the run, written together at its start, the plan read back from them, and
// what is not written to them: secret values of variables. docs/run_directory.md describes their content.
#pragma once

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/system/known_secrets.h"
#include "base/system/private_files.h"
#include "base/system/unique_fd.h"
#include "muster/plan.h"
#include "muster/result.h"
#include "muster/value.h"

namespace muster {

// Hides secret values of variables before they are written to files.

struct Plan;

class HiddenValues {
 public:
  // `secrets`: values of the plan's secrets by name.
  HiddenValues(const Plan& plan, const std::map<std::string, std::string>& secrets);

  // The value, or kHiddenValue: if a word of the name marks a secret (TOKEN, SECRET, PASSWORD, PASSWD, KEY,
  // CREDENTIAL, in any case), if a secret of the plan is taken from the variable, or if the value contains
  // one.
  std::string Shown(std::string_view name, const std::string& value) const;

 private:
  const Plan& plan_;
  std::vector<std::string_view> secrets_;
};

// Hides the values of the plan's secrets that can be read now, from the variables and files of the caller, in
// everything that is quoted from now on (base/system/known_secrets.h). Returns the names of the others.
std::vector<std::string> HideSecretsOf(const Plan& plan);

// Selects the variables of an environment that a run records, and hides secret values, because a record can be read
// later.
//
// Depends on names only, not on where environments come from.

// Patterns of the recorded variables: NAME or PREFIX*.
std::span<const std::string_view> RecordedVariablePatterns();

// The variables of `environment` ("NAME=value") that influence how programs behave: PATH, LD_LIBRARY_PATH, PYTHONPATH
// and all of CONDA_*, ASCEND_*, CUDA_*, NCCL_*, HCCL_*, OMP_*, GLOG_*. Bytes that are not UTF-8 are written as \xNN.
std::map<std::string, std::string> RecordedVariables(const std::vector<std::string>& environment,
                                                     const HiddenValues& hidden);

// Writes the files of a run directory that define the run, together at its start, and reads the plan back.
// docs/run_directory.md describes their content. The journal, the logs and the binding are written elsewhere.

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

// Writes the part of a run directory that can be used as a recipe (cli/lookup/known_recipe.h): recipe/ and
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
