// Calls the muster program like a user, from the source folder and with a clean environment.
#pragma once

#include <fstream>
#include <string>
#include <vector>

#include "support/command.h"
#include "support/places.h"
#include "support/temp_dir.h"

namespace muster::testing {

inline constexpr const char* kPipeline = "recipes/pipeline.lua";
// The body of a plan function with one process.
inline constexpr const char* kOneWorker = "job:workers { count = 1, command = { 'x' } }\n";

inline CommandResult Muster(std::vector<std::string> words, std::vector<std::string> variables = {}) {
  Command command;
  command.argv = {MusterProgram()};
  command.argv.insert(command.argv.end(), words.begin(), words.end());
  command.env.insert(command.env.end(), variables.begin(), variables.end());
  command.cwd = MUSTER_SOURCE_DIR;
  return RunCommand(command);
}

// A folder with one recipe, "recipe.lua".
class OneRecipe {
 public:
  explicit OneRecipe(const std::string& body, const std::string& fields = "") {
    std::ofstream(path()) << "local muster = require \"muster\"\nreturn muster.recipe { name = \"t\", " << fields
                          << "\nplan = function(p, job)\n"
                          << body << "\nend }\n";
  }
  std::string path() const { return folder_ / "recipe.lua"; }
  std::string operator/(const std::string& name) const { return folder_ / name; }

 private:
  TempDir folder_;
};

}  // namespace muster::testing
