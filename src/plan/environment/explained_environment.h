// The environment of one process with the origin of each variable, as shown by `muster plan --env`.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "muster/plan.h"
#include "plan/environment/environment.h"

namespace muster {

struct ExplainedVariable {
  std::string name;           // for removed variables also PREFIX*
  std::optional<Text> value;  // nothing: removed from the inherited environment
  VariableSource source;

  bool operator==(const ExplainedVariable&) const = default;
};

// Set variables by name, then removed ones by name. `sources` is the result of merging the process's layers; variables
// that it lacks count as muster's own.
std::vector<ExplainedVariable> ExplainEnvironment(const Plan& plan, const Process& process,
                                                  const std::map<std::string, VariableSource>& sources);

// Text for users, one line each: layer, variable, place; preceded by the steps of the plan's activation. Safe for a
// terminal.
std::string ExplainedEnvironmentText(const Plan& plan, const Process& process,
                                     const std::vector<ExplainedVariable>& variables);

}  // namespace muster
