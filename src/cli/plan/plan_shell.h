// muster plan --shell: one process as a line for a shell (plan/text/shell_line.h), of a recipe's plan or as a RUN had
// it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cli/options/recipe_options.h"
#include "muster/result.h"

namespace muster {

struct ShellChoice {
  bool asked = false;  // --shell
  std::string role;    // empty: the one that has the rank
  std::optional<std::uint32_t> rank;
};

// The text. A RUN without overrides is the plan that was run, with its binding. Kinds "shell", "run", "binding", and
// those of EvaluateFrom. Warnings of an evaluation are printed.
Result<std::string> PlanAsShellLine(const RecipeOptions& options, const ShellChoice& choice,
                                    const std::vector<std::string>& wraps);

}  // namespace muster
