// What `muster plan` says about recipes, word for word: plans, errors and warnings. MUSTER_UPDATE_GOLDENS=1
// rewrites what is expected; the review reads the difference.
//
//   recipes/NAME.lua       -> tests/golden/recipes/NAME.plan, and NAME.PROFILE.plan for each of its profiles
//   tests/golden/NAME.lua  -> NAME.plan (standard output) and NAME.err (standard error); each is there only if
//                             there is such output. A first line "-- args: a=1 -- words" gives arguments.
#include "support/golden.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

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

CommandResult Plan(const fs::path& recipe, const std::vector<std::string>& more = {}) {
  Command command;
  command.argv = {MusterProgram(), "plan", recipe.lexically_relative(kSource)};
  command.argv.insert(command.argv.end(), more.begin(), more.end());
  const std::vector<std::string> arguments = ArgumentsIn(recipe);
  command.argv.insert(command.argv.end(), arguments.begin(), arguments.end());
  command.cwd = kSource;
  return RunCommand(command);
}

// A plan that nobody could read to its end: its id, which stands for all of it, and what is not about one of the
// processes between the first and the last.
std::string Excerpt(const fs::path& recipe, const std::vector<std::string>& more, const std::string& plan) {
  constexpr std::ptrdiff_t kLongest = 3000;
  if (std::count(plan.begin(), plan.end(), '\n') <= kLongest) return plan;
  std::vector<std::string> with_id = more;
  with_id.emplace_back("--id");
  std::string excerpt = "id " + Plan(recipe, with_id).out;
  std::istringstream lines(plan);
  std::string process;  // whose lines are being read
  std::string last;     // these lines
  std::size_t number = 0;
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with("process ")) {
      excerpt += last + line + '\n';
      number = 0;
      last.clear();
      continue;
    }
    const std::string name = line.substr(0, line.find(' ', std::string_view("process ").size()));
    if (name != process) {
      if (++number <= 3) excerpt += last;  // of the process before
      last.clear();
      process = name;
    }
    last += line + '\n';
  }
  return excerpt + last;
}

std::vector<std::string> ProfilesOf(const fs::path& recipe) {
  Command command;
  command.argv = {MusterProgram(), "params", recipe.lexically_relative(kSource), "--json"};
  command.cwd = kSource;
  std::vector<std::string> names;
  const nlohmann::json params = nlohmann::json::parse(RunCommand(command).out);
  for (const auto& profile : params["profiles"]) names.push_back(profile["name"]);
  return names;
}

TEST(Golden, EveryRecipeGivesItsPlan) {
  for (const fs::path& recipe : LuaFilesIn(kSource / "recipes")) {
    SCOPED_TRACE(recipe);
    std::vector<std::string> profiles = ProfilesOf(recipe);
    profiles.insert(profiles.begin(), "");
    for (const std::string& profile : profiles) {
      SCOPED_TRACE(profile);
      const std::vector<std::string> more =
          profile.empty() ? std::vector<std::string>() : std::vector<std::string>{"--profile", profile};
      const CommandResult result = Plan(recipe, more);
      EXPECT_EQ(result.exit_code, 0);
      EXPECT_EQ(result.err, "") << "a recipe that people start from has nothing to warn about";
      const std::string name = recipe.stem().string() + (profile.empty() ? "" : "." + profile);
      ExpectGolden(Excerpt(recipe, more, result.out), "tests/golden/recipes/" + name + ".plan");
    }
  }
}

TEST(Golden, EveryCaseGivesItsPlanOrItsErrors) {
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

TEST(Golden, NoExpectationIsWithoutItsCase) {
  for (const auto& [expected, recipes] :
       {std::pair("tests/golden/recipes", "recipes"), std::pair("tests/golden", "tests/golden")}) {
    for (const auto& entry : fs::directory_iterator(kSource / expected)) {
      const fs::path extension = entry.path().extension();
      if (extension != ".plan" && extension != ".err") continue;
      const std::string stem = entry.path().stem();
      const std::string recipe = recipes == std::string("recipes") ? stem.substr(0, stem.find('.')) : stem;
      EXPECT_TRUE(fs::exists(kSource / recipes / (recipe + ".lua"))) << entry.path();
    }
  }
}

}  // namespace
}  // namespace muster::testing
