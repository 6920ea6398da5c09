// What a value was made of, seen from outside: quantities that had the same value in every plan that was made, and at
// least two different ones, are one and the same.
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

// The links below the subject: through exact divisions to parameters and the cluster. `plans` are the plan that is
// explained and those made to explain it; `told` is the subject's value in each, as one text, or nothing where it has
// several.
Chain ChainBelow(std::span<const Evaluation* const> plans, const Subject& subject,
                 std::span<const std::optional<std::string>> told);

// The links below a derived value and its own, for a subject that it may be a part of.
std::vector<ChainLink> ChainFrom(std::span<const Evaluation* const> plans, const std::string& derived);

// A link of its own for a parameter or a number of the cluster.
ChainLink LinkTo(const Evaluation& evaluation, const std::string& name);

}  // namespace muster
