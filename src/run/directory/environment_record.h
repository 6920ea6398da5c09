// Selects the variables of an environment that a run records, and hides secret values, because a record can be read
// later.
//
// Depends on names only, not on where environments come from.
#pragma once

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/system/known_secrets.h"
#include "run/directory/hidden_values.h"

namespace muster {

// Patterns of the recorded variables: NAME or PREFIX*.
std::span<const std::string_view> RecordedVariablePatterns();

// The variables of `environment` ("NAME=value") that influence how programs behave: PATH, LD_LIBRARY_PATH, PYTHONPATH
// and all of CONDA_*, ASCEND_*, CUDA_*, NCCL_*, HCCL_*, OMP_*, GLOG_*. Bytes that are not UTF-8 are written as \xNN.
std::map<std::string, std::string> RecordedVariables(const std::vector<std::string>& environment,
                                                     const HiddenValues& hidden);

}  // namespace muster
