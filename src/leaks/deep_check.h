// What a plan follows from besides its recipe, its parameters and its cluster: found by making it again and again,
// under circumstances that must not matter. And what only planning tells of a recipe: whether its profiles give plans,
// and which parameters change nothing.
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
  std::string plan_id;   // empty then
};

struct DeepCheck {
  // Kind "leak". Errors: two people, or one person twice, do not get the same plan of the same words. Warnings: they do
  // on machines, and in environments, that are alike.
  Diagnostics leaks;
  std::vector<CheckedProfile> profiles;  // all that the recipe has, each alone
  std::vector<std::string> without_effect;
  std::vector<std::string> locales;  // that were tried besides "C"
  std::size_t evaluations = 0;       // that were made to find leaks
};

// `as_it_is` is what the options give. `on_step` is told what is done next. Takes a second at least: one plan is made
// that much later than the first.
DeepCheck CheckDeeply(const EvaluationOptions& options, const Evaluation& as_it_is,
                      const std::function<void(const std::string& step)>& on_step);

}  // namespace muster
