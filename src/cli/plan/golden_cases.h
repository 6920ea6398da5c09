// The test cases of a folder of recipes: their golden files, for each recipe its defaults, each of its profiles, and
// the cases in its file of cases; and the plan of a case, independent of the machine.
#pragma once

#include <functional>
#include <set>
#include <string>
#include <vector>

#include "evaluator/evaluator.h"
#include "muster/result.h"

namespace muster {

// The golden files of a folder of recipes: for each recipe its defaults, each of its profiles, and the cases in its
// file of cases. Handles files and names; the caller makes the plans.
//
//   FOLDER/NAME.lua   golden/NAME.plan            as it stands
//                     golden/NAME.PROFILE.plan    for each profile
//                     golden/NAME.cases           "CASE: words as of muster plan", one a line; # begins a comment
//                     golden/NAME.CASE.plan       for each of these
//
// Warnings of a plan, or the errors of a case that must fail, are in the .err file of that name.

inline constexpr const char* kGoldenFolder = "golden";

struct GoldenCase {
  std::string name;                // "gpt.smoke", "nlp/bert"
  std::string recipe;              // "gpt.lua", below the folder
  std::vector<std::string> words;  // overrides and options
  Place place = {};                // its line in the file of cases; empty for the defaults and for profiles

  std::string plan() const { return std::string(kGoldenFolder) + "/" + name + ".plan"; }
  std::string problems() const { return std::string(kGoldenFolder) + "/" + name + ".err"; }
};

// "gpt.lua", "nlp/bert.lua": Lua files below the folder, relative to it, by name; without hidden folders, run
// directories (whose recipes are copies), links and golden files. The second: below the current folder.
std::vector<std::string> LuaFilesBelow(const std::string& folder);
std::vector<std::string> LuaFilesHere();

// The cases in the recipe's file of cases; none if there is no file. Kind "cases".
Result<std::vector<GoldenCase>> WrittenCases(const std::string& recipe);

// "gpt": the prefix of the names of a recipe's cases.
std::string GoldenName(const std::string& recipe);

// Golden files, below the current folder, that belong to no case: `cases` are their names, `recipes` the files.
std::vector<std::string> StaleGoldens(const std::set<std::string>& cases, const std::vector<std::string>& recipes);

// Makes the plan of a test case, independent of the machine.
//
// Hides this machine: devices and memory are unknown unless the case sets them, variables are not set, MUSTER_SET is
// not read, and muster.here returns files below /recipes.

// `more` comes after the overrides of the case; `on_wait` and `mindspore` are those of EvaluationOptions. The recipe's
// output is discarded. Kind "cases" for invalid words, else those of EvaluateRecipe.
Result<Evaluation> EvaluateCase(const GoldenCase& one, bool describe_only, const std::vector<Override>& more = {},
                                const std::function<void(unsigned seconds)>& on_wait = {},
                                const std::string& mindspore = {});

}  // namespace muster
