// Which variables of an environment a run keeps a record of, and with which values: what can be read later must hold no
// secret.
//
// Knows names, not where environments come from.
#pragma once

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "run/directory/hidden_values.h"

namespace muster {

// What a record has in the place of a value that is not for everybody.
inline constexpr std::string_view kHiddenValue = "(hidden)";

// What is recorded, as NAME or PREFIX*.
std::span<const std::string_view> RecordedVariablePatterns();

// Of `environment` ("NAME=value") what tells how programs will behave: PATH, LD_LIBRARY_PATH, PYTHONPATH and all of
// CONDA_*, ASCEND_*, CUDA_*, NCCL_*, HCCL_*, OMP_*, GLOG_*. Bytes that are no UTF-8 are written as \xNN.
std::map<std::string, std::string> RecordedVariables(const std::vector<std::string>& environment,
                                                     const HiddenValues& hidden);

}  // namespace muster
