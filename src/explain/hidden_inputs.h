// Finds hidden inputs of a plan, besides its recipe, parameters and cluster, by making it again under conditions that
// must not matter: repeated, in other locales, with other variables, on another machine. Also finds profiles that
// give no plan, and parameters without effect. Nothing on this machine is changed.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "evaluator/evaluator.h"
#include "muster/plan.h"

namespace muster {

// Finds names of this machine and its user in the texts of a plan: a plan with such a name is valid on this machine
// only. Pure: the caller passes the names.

struct OwnName {
  std::string what;  // "the name of this machine"
  std::string name;
};

struct NameOccurrence {
  OwnName own;
  std::string where;  // "worker 0-3: variable DATA", "derived value data", "file conf/x.json"
};

// Whether the text has the word on its own: no letter, digit, '_' or '-' beside it.
bool HoldsWord(std::string_view text, std::string_view word);

// Each name once for every variable, word, folder, derived value and file that contains it. Ignores paths below
// `folder`, the recipe's own, which muster.here returns.
std::vector<NameOccurrence> FindOwnNames(const Plan& plan, const std::vector<OwnName>& names,
                                         const std::string& folder);

// Compares repeated evaluations of a recipe: whether the plans differ, and the likely cause.
// Pure.

// The two results of one interpreter. Texts are equal if and only if the plans are.
struct RepeatedPlan {
  std::string first;
  std::string again;
};

enum class NondeterminismCause : std::uint8_t {
  kNo,
  kState,  // each interpreter's second plan differs from its first in the same way: it keeps state
  kSeed,   // each interpreter is consistent, but they differ: the order of tables, or an address
  kClock,  // plans differ within an interpreter, or only between early and late ones
};

// Results of a second or more after the first of the repeated plans.
struct LatePlans {
  std::string first;  // of the interpreter that made the first of them
  std::string other;  // of one that was started late
};

// `plans` must not be empty.
NondeterminismCause JudgeRepeats(std::span<const RepeatedPlan> plans, const LatePlans& late);

// Finds hidden inputs of a plan, besides its recipe, parameters and cluster, by making it again under
// conditions that must not matter. Also finds profiles that give no plan, and parameters without
// effect.

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
