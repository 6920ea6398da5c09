// The environment of one process with who decided each variable: what `muster plan --env` shows.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "muster/plan.h"
#include "plan/environment/environment.h"

namespace muster {

struct ExplainedVariable {
  std::string name;           // of a removed one also PREFIX*
  std::optional<Text> value;  // nothing: removed from what is inherited
  VariableSource source;

  bool operator==(const ExplainedVariable&) const = default;
};

// Set ones by name, then removed ones by name. `sources` is what merging the process's layers said; what it does not
// know counts as muster's own.
std::vector<ExplainedVariable> ExplainEnvironment(const Plan& plan, const Process& process,
                                                  const std::map<std::string, VariableSource>& sources);

// For people, one line each: layer, variable, place; before them the steps of the plan's activation. Safe for a
// terminal.
std::string ExplainedEnvironmentText(const Plan& plan, const Process& process,
                                     const std::vector<ExplainedVariable>& variables);

}  // namespace muster
