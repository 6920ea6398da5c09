// Reconstructs what a value was computed from by comparing plans: quantities with the same value in every plan, and at
// least two different values, are considered the same.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "explain/explain.h"

namespace muster {

struct Chain {
  std::string formula;  // of a derived value: its division; may be empty
  std::vector<ChainLink> links;
};

// The links below the subject: through exact divisions to parameters and the cluster. `plans` are the plan to be
// explained and those made to explain it; `reported` is the subject's value in each, as one text, or nothing if it has
// several.
Chain ChainBelow(std::span<const Evaluation* const> plans, const Subject& subject,
                 std::span<const std::optional<std::string>> reported);

// The links of a derived value and below, for a subject that may be computed from it.
std::vector<ChainLink> ChainFrom(std::span<const Evaluation* const> plans, const std::string& derived);

// The link for a parameter or a number of the cluster.
ChainLink LinkTo(const Evaluation& evaluation, const std::string& name);

}  // namespace muster
