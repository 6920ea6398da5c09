#include <utility>

#include "evaluator/evaluator.h"
#include "muster/evaluate.h"

namespace muster {

Result<EvaluatedRecipe> EvaluateFile(const RecipeInput& input) {
  EvaluationOptions options;
  options.recipe_file = input.file;
  for (const auto& [name, value] : input.parameters) options.overrides.push_back(ValueOverride(name, value));
  options.profiles = input.profiles;
  options.args = input.args;
  options.site = input.site;
  options.program = input.evaluator;
  auto evaluation = EvaluateRecipe(options);
  if (!evaluation) return Fail(std::move(evaluation.error()));
  Diagnostics refused;
  for (const Diagnostic& warning : evaluation->warnings) {
    if (warning.kind != "secret_literal") continue;
    refused.push_back(warning);
    refused.back().severity = Severity::kError;
  }
  if (!refused.empty()) return Fail(std::move(refused));
  return EvaluatedRecipe{std::move(evaluation->name), std::move(evaluation->doc), std::move(evaluation->plan),
                         std::move(evaluation->warnings)};
}

}  // namespace muster
