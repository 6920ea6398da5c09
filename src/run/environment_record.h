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

#include "muster/plan.h"

namespace muster {

// What a record has in the place of a value that is not for everybody.
inline constexpr std::string_view kHiddenValue = "(hidden)";

class HiddenValues {
 public:
  // The secrets of the plan, and their values by name.
  HiddenValues(const Plan& plan, const std::map<std::string, std::string>& secrets);

  // The value, or kHiddenValue: where a word of the name says that it is a secret (TOKEN, SECRET, PASSWORD, PASSWD,
  // KEY, CREDENTIAL, in any case), where a secret of the plan is taken from the variable, and where one is part of the
  // value.
  std::string Shown(std::string_view name, const std::string& value) const;

 private:
  const Plan& plan_;
  std::vector<std::string_view> secrets_;
};

// What is recorded, as NAME or PREFIX*.
std::span<const std::string_view> RecordedVariablePatterns();

// Of `environment` ("NAME=value") what tells how programs will behave: PATH, LD_LIBRARY_PATH, PYTHONPATH and all of
// CONDA_*, ASCEND_*, CUDA_*, NCCL_*, HCCL_*, OMP_*, GLOG_*. Bytes that are no UTF-8 are written as \xNN.
std::map<std::string, std::string> RecordedVariables(const std::vector<std::string>& environment,
                                                     const HiddenValues& hidden);

}  // namespace muster
