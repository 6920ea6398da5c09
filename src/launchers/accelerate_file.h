// Converts Accelerate's configuration file (written by `accelerate config`) to options of `accelerate launch`. Pure:
// text in, words out.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "muster/result.h"

namespace muster {

// Pairs of an option's name ("--num_processes") and its value; an option without a value has "true" or "false". Null
// values are ignored. An option that is there twice counts as it is first. Kind "usage": invalid YAML, not a map, or
// unsupported (SageMaker, TPUs).
Result<std::vector<std::pair<std::string, std::string>>> WordsOfAccelerateFile(std::string_view text,
                                                                               const std::string& file);

}  // namespace muster
