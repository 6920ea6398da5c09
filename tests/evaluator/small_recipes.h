// Recipes for tests of evaluators: small ones in a temporary folder, and all recipes with golden files.
#pragma once

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "evaluator/evaluator.h"
#include "support/command.h"
#include "support/places.h"
#include "support/temp_dir.h"

namespace muster::testing {

inline EvaluationOptions OptionsOf(const std::string& recipe_file) {
  EvaluationOptions options;
  options.recipe_file = recipe_file;
  options.program = EvaluatorProgram();
  return options;
}

class SmallRecipes {
 public:
  std::string Write(const std::string& name, const std::string& content) const {
    std::ofstream(folder_ / name, std::ios::binary) << content;
    return folder_ / name;
  }
  // A recipe with this plan function and one parameter, n; `before` is put before the recipe.
  EvaluationOptions Recipe(const std::string& body, const std::string& before = "") const {
    return OptionsOf(
        Write("recipe.lua", "local muster = require \"muster\"\n" + before +
                                "\nreturn muster.recipe { name = \"t\", params = { n = muster.int { 1 } },\n"
                                "plan = function(p, job)\n" +
                                body + "\nend }\n"));
  }
  static EvaluationOptions With(EvaluationOptions options, std::int64_t n) {
    options.overrides.push_back(ValueOverride("n", Value(n)));
    return options;
  }
  std::string folder() const { return folder_.path(); }

 private:
  TempDir folder_;
};

// Returns more than fifty, sorted.
inline std::vector<std::string> RecipesWithGoldens() {
  std::vector<std::string> files;
  for (const char* folder : {"tests/golden", "recipes"}) {
    for (const auto& entry : std::filesystem::directory_iterator(std::filesystem::path(MUSTER_SOURCE_DIR) / folder)) {
      if (entry.path().extension() == ".lua") files.push_back(entry.path());
    }
  }
  std::sort(files.begin(), files.end());
  return files;
}

}  // namespace muster::testing
