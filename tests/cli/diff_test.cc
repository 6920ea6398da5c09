// Compares the output of muster diff with golden files: tests/golden/diff/NAME.txt.
#include <fstream>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "cli/muster_command.h"
#include "support/golden.h"

namespace muster::testing {
namespace {

CommandResult Diff(std::vector<std::string> words) {
  words.insert(words.begin(), "diff");
  return Muster(std::move(words));
}

void ExpectDiffers(const std::string& kept, const std::vector<std::string>& words) {
  const CommandResult result = Diff(words);
  EXPECT_EQ(result.exit_code, 1) << result.err;
  EXPECT_EQ(result.err, "");
  ExpectGolden(result.out, "tests/golden/diff/" + kept + ".txt");
}

TEST(DiffCommand, AttributesChangesToTheirCauses) {
  ExpectDiffers("one_parameter", {kPipeline, "layers=64"});
  ExpectDiffers("two_parameters", {kPipeline, "layers=32", kPipeline, "layers=64", "pipeline_stages=4"});
  ExpectDiffers("cluster", {kPipeline, "hosts=2", "devices_per_host=16"});
  ExpectDiffers("only_together", {kPipeline, "layers=33", "pipeline_stages=1", kPipeline, "layers=32"});
}

TEST(DiffCommand, ComparesHundredsOfDevices) {
  ExpectDiffers("512_devices", {"recipes/gpt.lua", "recipes/gpt_175b.lua"});
  ExpectDiffers("512_devices_by_stages", {"recipes/gpt_175b.lua", "recipes/gpt_175b.lua", "pipeline_stages=32"});
}

TEST(DiffCommand, ComparesTwoRanks) {
  ExpectDiffers("ranks", {kPipeline, "--ranks", "0", "5"});
  EXPECT_EQ(Diff({kPipeline, "--ranks", "5", "worker:5"}).exit_code, 0);
  EXPECT_EQ(Diff({kPipeline, "--ranks", "0", "99"}).exit_code, 2);
}

TEST(DiffCommand, ReportsThatNothingDiffers) {
  const CommandResult result = Diff({kPipeline, kPipeline});
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_NE(result.out.find("nothing differs; both run the same\n"), std::string::npos) << result.out;
}

TEST(DiffCommand, ShowsDifferingLinesOfARecipe) {
  const OneRecipe before("job:workers { count = 2, command = { \"true\" },\n env = { A = 1 } }");
  const OneRecipe after("job:workers { count = 2, command = { \"true\" },\n env = { A = 2 } }");
  const CommandResult result = Diff({before.path(), after.path()});
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_NE(result.out.find("the recipe's text  (recipe)\n"
                            "  - recipe.lua:5:  env = { A = 1 } }\n"
                            "  + recipe.lua:5:  env = { A = 2 } }\n"
                            "  variable  A  1 → 2  worker 0-1\n"),
            std::string::npos)
      << result.out;
}

TEST(DiffCommand, ReportsADifferentRecipeWithTheSamePlan) {
  const OneRecipe before("job:workers { count = 2, command = { \"true\" } }");
  const OneRecipe after("job:workers { count = 2, command = { \"true\" } } -- a remark");
  const CommandResult result = Diff({before.path(), after.path()});
  EXPECT_EQ(result.exit_code, 0) << "what is run is the same";
  EXPECT_NE(result.out.find("the recipe's text differs, and nothing follows from it; both run the same\n"),
            std::string::npos)
      << result.out;
}

TEST(DiffCommand, AcceptsPlanFiles) {
  const TempDir folder;
  const std::string file = folder / "a.json";
  std::ofstream(file) << Muster({"plan", kPipeline, "--json"}).out;
  EXPECT_EQ(Diff({file, kPipeline}).exit_code, 0);
  const CommandResult result = Diff({file, kPipeline, "layers=64", "micro_batches=32"});
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_NE(result.out.find("what each of these does alone is not known"), std::string::npos) << result.out;
  EXPECT_EQ(Diff({file, "layers=64", kPipeline}).exit_code, 2) << "a plan has its parameters already";
}

TEST(DiffCommand, RefusesAnythingButTwoOperands) {
  EXPECT_EQ(Diff({kPipeline}).exit_code, 2);
  EXPECT_EQ(Diff({kPipeline, kPipeline, kPipeline}).exit_code, 2);
  EXPECT_EQ(Diff({"layers=3", kPipeline}).exit_code, 2);
  EXPECT_EQ(Diff({kPipeline, "/no/such/run"}).exit_code, 2);
}

TEST(DiffCommand, PrintsJsonForPrograms) {
  const CommandResult result = Diff({kPipeline, "layers=64", "--json"});
  EXPECT_EQ(result.exit_code, 1);
  const auto document = nlohmann::json::parse(result.out);
  EXPECT_EQ(document["format"], 1);
  EXPECT_EQ(document["same_plan"], false);
  EXPECT_EQ(document["causes"][0]["name"], "layers");
  EXPECT_EQ(document["causes"][0]["after"], "64");
  EXPECT_EQ(document["groups"][0]["causes"], nlohmann::json::array({0}));
  EXPECT_EQ(document["changes"].size(), document["groups"][0]["changes"].size());
}

}  // namespace
}  // namespace muster::testing
