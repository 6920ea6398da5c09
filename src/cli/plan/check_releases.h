// A recipe against other MindSpore releases than its own: evaluates it as if it named them, and tells what is different
// there. What counts as different is settings/schema/release_change.h's.
#pragma once

#include <string>
#include <vector>

#include "cli/options/recipe_options.h"
#include "settings/schema/release_change.h"

namespace muster {

struct ReleaseCheck {
  Release release;
  bool own = false;                     // the recipe's own release
  Diagnostics findings;                 // everything that is said there
  Diagnostics fresh;                    // of these what the recipe's own release does not say
  std::size_t gone = 0;                 // findings of the recipe's own release that are not said there
  std::vector<DefaultChange> defaults;  // empty as well if the recipe is wrong as it stands
};

struct ReleaseChecks {
  std::string own_release;  // "1.6.2"; empty: the recipe names none, or is wrong as it stands
  std::vector<ReleaseCheck> checks;
};

// `wanted` is a release as a recipe names it, or "all": every described one. Kind "release": there is no such release.
// `as_it_stands` is the recipe's own evaluation. Nothing is evaluated if a recipe that is right names no release.
Result<ReleaseChecks> CheckReleases(const RecipeOptions& options, const Result<Evaluation>& as_it_stands,
                                    const std::string& wanted);

// Prints them for people: findings on standard error, the rest on standard output.
void PrintReleaseChecks(const ReleaseChecks& checks, const Result<Evaluation>& as_it_stands);
void PrintReleaseTable(const ReleaseChecks& checks);

// {"format": 1, "ok": …, "mindspore": …, "diagnostics": […], "releases": […]}
std::string ReleaseChecksJson(const ReleaseChecks& checks, const Diagnostics& as_it_stands);

}  // namespace muster
