// Finds hidden inputs of a plan, besides its recipe, parameters and cluster, by making it again under
// conditions that must not matter. Also finds profiles that give no plan, and parameters without
// effect.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "evaluator/evaluator.h"

namespace muster {

struct CheckedProfile {
  std::string name;
  Place place;
  Diagnostics problems;  // errors: it gives no plan
  std::string plan_id;   // empty if it gives no plan
};

struct DeepCheck {
  // Kind "leak". Errors: two users, or one user twice, get different plans from the same command. Warnings: they get
  // the same plan only on similar machines and in similar environments.
  Diagnostics leaks;
  std::vector<CheckedProfile> profiles;  // all profiles of the recipe, each on its own
  std::vector<std::string> without_effect;
  std::vector<std::string> locales;  // tried besides "C"
  std::size_t evaluations = 0;       // made to find leaks
};

// `as_it_is` is the evaluation of the options. `on_step` is called with a description of each step. Takes at least a
// second: one plan is made that much later than the first.
DeepCheck CheckDeeply(const EvaluationOptions& options, const Evaluation& as_it_is,
                      const std::function<void(const std::string& step)>& on_step);

}  // namespace muster
