// Which plans of a folder of recipes are kept beside it, and where: a recipe as it stands, each of its profiles, and
// the cases that a file of words names. Knows files and names; plans are made by who asks.
//
//   FOLDER/NAME.lua   golden/NAME.plan            as it stands
//                     golden/NAME.PROFILE.plan    for each profile
//                     golden/NAME.cases           "CASE: words as of muster plan", one a line; # begins a comment
//                     golden/NAME.CASE.plan       for each of these
//
// Warnings of a plan, or the errors of what must fail, are in the .err of that name.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "muster/result.h"

namespace muster {

inline constexpr const char* kGoldenFolder = "golden";

struct GoldenCase {
  std::string name;                // "gpt.smoke", "nlp/bert"
  std::string recipe;              // "gpt.lua", below the folder
  std::vector<std::string> words;  // overrides and options
  Place place = {};  // of its line among the written cases; nowhere: the recipe as it stands, or a profile

  std::string plan() const { return std::string(kGoldenFolder) + "/" + name + ".plan"; }
  std::string problems() const { return std::string(kGoldenFolder) + "/" + name + ".err"; }
};

// "gpt.lua", "nlp/bert.lua": Lua files below the current folder, by name; hidden folders, run directories (whose
// recipes are copies), links and kept plans left out.
std::vector<std::string> LuaFilesHere();

// The cases that the recipe's file of cases holds; none if there is no file. Kind "cases".
Result<std::vector<GoldenCase>> WrittenCases(const std::string& recipe);

// "gpt": what the names of a recipe's cases begin with.
std::string GoldenStem(const std::string& recipe);

// Kept files, below the current folder, that belong to no case: `cases` are their names, `recipes` the files.
std::vector<std::string> StaleGoldens(const std::set<std::string>& cases, const std::vector<std::string>& recipes);

}  // namespace muster
