// The files of a run directory that are written at one blow: what is to run, at the beginning (and its plan read back),
// and the account of it, at the end. What they hold is told in docs/run_directory.md. The journal, the logs and the
// binding are others'.
#pragma once

#include <map>
#include <string>

#include "muster/plan.h"
#include "muster/result.h"
#include "muster/value.h"
#include "run/private_files.h"

namespace muster {

// plan.json, plan.txt, inputs.json with the variables of `inherited` (see RecordedVariables), recipe/ with the bytes of
// each of `sources` (paths below it) and how they were evaluated (null: they were not), and the folders logs/ and
// errors/. The folder logs/, open.
Result<UniqueFd> WriteRunFiles(int folder, const Plan& plan, const Value& inputs, const Value& evaluation,
                               const std::map<std::string, std::string>& inherited,
                               const std::map<std::string, std::string>& sources);

// plan.json as it stands. Kind "run" if `folder`, which is `run_dir` open, has none.
Result<std::string> ReadPlanJson(int folder, const std::string& run_dir);

struct RunAccount {
  std::string text;      // what report.txt holds; empty if the run directory cannot be read back
  Diagnostics problems;  // files that could not be written
};

// report.json and report.txt of the run that has ended, made from its directory as anybody else would make them.
RunAccount WriteRunAccount(int folder, const std::string& run_dir);

}  // namespace muster
