// Tests muster check --mindspore: problems that a recipe would have with another release.
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "cli/muster_command.h"

namespace muster::testing {
namespace {

constexpr const char* kReservation = "MindSpore 2.7.0 is described from its release candidate of July 2025";

using nlohmann::json;

class Moving : public OneRecipe {
 public:
  Moving(const std::string& release, const std::string& calls)
      : OneRecipe("local context = require 'muster.context'\n" + calls + "\n" + kOneWorker,
                  "mindspore = '" + release + "',") {}
};

CommandResult CheckOn(const OneRecipe& recipe, const std::string& release, std::vector<std::string> more = {}) {
  std::vector<std::string> words = {"check", recipe.path(), "--mindspore", release};
  words.insert(words.end(), more.begin(), more.end());
  return Muster(words);
}

TEST(CheckReleases, NamesTheSuccessorOfARemovedAttribute) {
  const Moving recipe("0.3",
                      "context.set_auto_parallel_context { mirror_mean = true, parallel_mode = 'data_parallel' }");
  EXPECT_EQ(Muster({"check", recipe.path()}).exit_code, 0) << "it is right as it stands";
  const CommandResult result = CheckOn(recipe, "1.6");
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_EQ(result.out.substr(0, result.out.find("\nother")),
            recipe.path() + ": ok, 1 process on 1 host\non MindSpore 1.6.2 instead of 0.3.1: 1 error");
  EXPECT_NE(result.err.find(recipe.path() + ":5: error: mirror_mean is not in MindSpore 1.6.2: it has been removed\n"),
            std::string::npos)
      << result.err;
  EXPECT_NE(result.err.find("hint: use gradients_mean\n"), std::string::npos) << result.err;
}

TEST(CheckReleases, ReportsChangedTypesAndChoices) {
  const Moving recipe(
      "2.3",
      "context.set_context { mode = 0, save_graphs = 2 }\n"
      "context.set_auto_parallel_context { parallel_mode = 'data_parallel', grad_accumulation_step = 1 }");
  const CommandResult result = CheckOn(recipe, "1.0");
  EXPECT_EQ(result.exit_code, 2);
  for (const char* part :
       {":5: error: save_graphs must be true or false", ":6: error: grad_accumulation_step is not in"})
    EXPECT_NE(result.err.find(part), std::string::npos) << result.err;
}

TEST(CheckReleases, OmitsProblemsOfTheRecipesOwnRelease) {
  const Moving recipe("1.6",
                      "context.set_context { mode = 0, variable_memory_max_size = '5GB', device_target = 'Ascend' }");
  const CommandResult result = CheckOn(recipe, "1.9");
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_NE(result.out.find("on MindSpore 1.9.0 instead of 1.6.2: nothing more\n"), std::string::npos) << result.out;
  const std::string word = "is deprecated";
  EXPECT_EQ(result.err.find(word), result.err.rfind(word)) << "told once, for its own release: " << result.err;
}

TEST(CheckReleases, ReportsChangedDefaultsThatTheRecipeReliesOn) {
  const Moving recipe("1.6", "context.set_context { device_target = 'CPU' }");
  const CommandResult result = CheckOn(recipe, "2.3");
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_NE(result.out.find("  mode  0 (GRAPH_MODE) -> 1 (PYNATIVE_MODE)\n"), std::string::npos) << result.out;
}

TEST(CheckReleases, ReportsThatThereIsNothingToCompare) {
  const OneRecipe none(kOneWorker);
  EXPECT_NE(CheckOn(none, "2.3").out.find("the recipe names no MindSpore release"), std::string::npos);
  const Moving own("1.6", "context.set_context { mode = 0 }");
  EXPECT_NE(CheckOn(own, "1.6").out.find("MindSpore 1.6.2 is the recipe's own release\n"), std::string::npos);
}

TEST(CheckReleases, OfAnInvalidRecipeReportsAdditionalProblems) {
  const Moving recipe("1.6", "context.set_context { mode = 7 }\ncontext.set_context { grad_for_scalar = true }");
  const CommandResult result = CheckOn(recipe, "1.0");
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_NE(result.out.find("on MindSpore 1.0.1: 1 error more\n"), std::string::npos) << result.out << result.err;
  EXPECT_NE(result.out.find("once the recipe has no errors"), std::string::npos);
}

TEST(CheckReleases, PrintsATableOfAllReleases) {
  const Moving recipe("1.6", "context.set_context { mode = 0, grad_for_scalar = true }");
  const CommandResult result = CheckOn(recipe, "all");
  EXPECT_EQ(result.exit_code, 2) << "some release refuses it";
  for (const char* part :
       {"\n0.3.1             1         0", "\n1.6.2 *           0         0         0\n", "\n2.4.0             0"})
    EXPECT_NE(result.out.find(part), std::string::npos) << result.out;
  EXPECT_NE(result.out.find(recipe.path() + ":5: grad_for_scalar is not in MindSpore 0.3.1"), std::string::npos);
  EXPECT_EQ(result.err, "");
}

TEST(CheckReleases, RefusesAnUnknownRelease) {
  const Moving recipe("1.6", "context.set_context { mode = 0 }");
  const CommandResult result = CheckOn(recipe, "1.7");
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_EQ(result.out, "");
  EXPECT_NE(result.err.find("\"1.7\" is no MindSpore release that muster knows\nhint: described: 0.3, 1.0"),
            std::string::npos)
      << result.err;
  EXPECT_EQ(json::parse(CheckOn(recipe, "1.7", {"--json"}).out)["diagnostics"][0]["kind"], "release");
}

TEST(CheckReleases, AreJsonForPrograms) {
  const Moving recipe("0.3",
                      "context.set_auto_parallel_context { mirror_mean = true, parallel_mode = 'data_parallel' }");
  const CommandResult result = CheckOn(recipe, "1.6", {"--json"});
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_EQ(result.err, "");
  const json whole = json::parse(result.out);
  EXPECT_EQ(whole["format"], 1);
  EXPECT_EQ(whole["ok"], false);
  EXPECT_EQ(whole["mindspore"], "0.3.1");
  EXPECT_EQ(whole["diagnostics"], json::array());
  ASSERT_EQ(whole["releases"].size(), 1U);
  const json& there = whole["releases"][0];
  EXPECT_EQ(there["release"], "1.6.2");
  EXPECT_EQ(there["own"], false);
  EXPECT_EQ(there["ok"], false);
  EXPECT_EQ(there["diagnostics"][0]["kind"], "release");
  EXPECT_EQ(there["diagnostics"][0]["line"], 5);
  EXPECT_EQ(there["diagnostics"][0]["new"], true);
  ASSERT_FALSE(there["defaults"].empty());
  EXPECT_EQ(there["defaults"][0]["name"], "mode");
  EXPECT_EQ(there["reservation"], nullptr);
  const json all = json::parse(CheckOn(recipe, "all", {"--json"}).out)["releases"];
  ASSERT_EQ(all.size(), 10U);
  EXPECT_EQ(all[9]["reservation"], kReservation);
}

TEST(CheckReleases, PrintsTheRecipesOutputOnce) {
  const Moving recipe("1.6", "print 'seen' context.set_context { mode = 0 }");
  EXPECT_EQ(CheckOn(recipe, "2.3").err, "seen\n");
}

TEST(CheckReleases, SayThatAReleaseIsDescribedFromItsCandidate) {
  const Moving recipe("2.7", "context.set_context { mode = 0 }");
  const std::string line = std::string("\n") + kReservation + "\n";
  for (const char* release : {"2.7", "all"}) {
    EXPECT_NE(CheckOn(recipe, release).out.find(line), std::string::npos) << release;
  }
  EXPECT_NE(CheckOn(Moving("2.3", "context.set_context { mode = 0 }"), "2.7").out.find(line), std::string::npos);
  EXPECT_EQ(CheckOn(recipe, "2.6").out.find(kReservation), std::string::npos);
  const CommandResult page = Muster({"docs", "set_device", "--mindspore", "2.7"});
  EXPECT_TRUE(page.out.ends_with(std::string(kReservation) + ".\n")) << page.out;
  EXPECT_EQ(Muster({"docs", "set_device", "--mindspore", "2.6"}).out.find("candidate"), std::string::npos);
}

}  // namespace
}  // namespace muster::testing
