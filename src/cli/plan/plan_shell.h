// muster plan --shell: one process as a shell command (plan/text/shell_line.h), of a recipe's plan or of a
// RUN.
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
  std::string role;    // empty: the role that has the rank
  std::optional<std::uint32_t> rank;
};

// For a RUN without overrides: the plan that was run, with its binding. Kinds "shell", "run", "binding", and those of
// EvaluateFrom. Prints the warnings of an evaluation.
Result<std::string> PlanAsShellLine(const RecipeOptions& options, const ShellChoice& choice,
                                    const std::vector<std::string>& wraps);

}  // namespace muster
