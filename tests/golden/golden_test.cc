// Compares the output of `muster plan` for small recipes with golden files: plans, errors and warnings.
// MUSTER_UPDATE_GOLDENS=1 rewrites these for review. The plans of recipes/ are `muster test recipes`.
//   tests/golden/NAME.lua  -> NAME.plan (standard output) and NAME.err (standard error); each file exists
//                             only if there is such output. A first line "-- args: a=1 -- words" gives arguments.
#include "support/golden.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>

#include <gtest/gtest.h>

#include "support/command.h"

namespace muster::testing {
namespace {

namespace fs = std::filesystem;

const fs::path kSource = MUSTER_SOURCE_DIR;

std::vector<fs::path> LuaFilesIn(const fs::path& folder) {
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(folder)) {
    if (entry.path().extension() == ".lua") files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  return files;
}

std::vector<std::string> ArgumentsIn(const fs::path& recipe) {
  std::ifstream file(recipe);
  std::string line;
  std::getline(file, line);
  constexpr std::string_view kMark = "-- args: ";
  if (!line.starts_with(kMark)) return {};
  std::istringstream words(line.substr(kMark.size()));
  return {std::istream_iterator<std::string>(words), {}};
}

CommandResult Plan(const fs::path& recipe) {
  Command command;
  command.argv = {MusterProgram(), "plan", recipe.lexically_relative(kSource)};
  const std::vector<std::string> arguments = ArgumentsIn(recipe);
  command.argv.insert(command.argv.end(), arguments.begin(), arguments.end());
  command.cwd = kSource;
  return RunCommand(command);
}

TEST(Golden, EveryCaseYieldsItsPlanOrErrors) {
  const fs::path folder = kSource / "tests/golden";
  std::size_t errors = 0;
  for (const fs::path& recipe : LuaFilesIn(folder)) {
    SCOPED_TRACE(recipe);
    const CommandResult result = Plan(recipe);
    const std::string name = recipe.stem();
    const bool wants_error = name.starts_with("error.");
    errors += wants_error;
    EXPECT_EQ(result.exit_code, wants_error ? 2 : 0);
    EXPECT_EQ(result.out.empty(), wants_error);
    EXPECT_EQ(result.err.empty(), !wants_error && !name.starts_with("warning."));
    ExpectGolden(result.out, "tests/golden/" + name + ".plan");
    ExpectGolden(result.err, "tests/golden/" + name + ".err");
  }
  EXPECT_GE(errors, 30U);
}

TEST(Golden, EveryExpectationHasItsCase) {
  for (const auto& entry : fs::directory_iterator(kSource / "tests/golden")) {
    const fs::path extension = entry.path().extension();
    if (extension != ".plan" && extension != ".err") continue;
    EXPECT_TRUE(fs::exists(fs::path(entry.path()).replace_extension(".lua"))) << entry.path();
  }
}

}  // namespace
}  // namespace muster::testing
