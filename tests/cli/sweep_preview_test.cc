// Tests muster sweep --preview as text and JSON, and mistakes that are refused before any trial is evaluated.
#include <filesystem>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "cli/muster_command.h"
#include "support/golden.h"

namespace muster::testing {
namespace {

void ExpectPreviewed(const std::string& kept, std::vector<std::string> words) {
  words.insert(words.begin(), "sweep");
  words.emplace_back("--preview");
  const CommandResult result = Muster(std::move(words));
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(result.err, "");
  ExpectGolden(result.out, "tests/golden/sweep/" + kept + ".txt");
}

void ExpectRefused(const std::string& kept, std::vector<std::string> words) {
  words.insert(words.begin(), "sweep");
  words.emplace_back("--preview");
  const CommandResult result = Muster(std::move(words));
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_EQ(result.out, "");
  ExpectGolden(result.err, "tests/golden/sweep/" + kept + ".err");
}

TEST(SweepCommand, PreviewsASweepOverLayouts) { ExpectPreviewed("gpt", {"recipes/sweep_gpt.lua"}); }

TEST(SweepCommand, FindsFifteenOfTwentyFourLayoutsPossible) {
  const CommandResult result = Muster({"sweep", "recipes/sweep_gpt.lua", "--preview", "--json"});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const auto document = nlohmann::json::parse(result.out);
  EXPECT_EQ(document["format"], 1);
  EXPECT_EQ(document["layouts"], 24);
  const auto& judged = document["judged"];
  EXPECT_EQ(judged["what"], "layouts");
  EXPECT_EQ(judged["possible"], 15);
  ASSERT_EQ(judged["reasons"].size(), 2U);
  std::map<int, std::string> places;
  for (const auto& reason : judged["reasons"]) {
    places[reason["points"]] = reason["problem"]["file"].get<std::string>() + ":" + reason["problem"]["line"].dump();
  }
  EXPECT_EQ(places, (std::map<int, std::string>{{3, "recipes/gpt.lua:45"}, {6, "recipes/sweep_gpt.lua:26"}}));
}

TEST(SweepCommand, PreviewsAxesOfTheCommandLine) {
  ExpectPreviewed(
      "words", {"recipes/gpt.lua", "--grid", "hosts=1..4", "--zip", "pipeline_stages=1,2", "tensor_parallel_size=8,4",
                "--where", "bubble < 0.2", "--where", "hosts ~= 3", "--minimize", "loss", "--slots", "2"});
}

TEST(SweepCommand, EvaluatesTrialsIfAConditionDependsOnAContinuousAxis) {
  ExpectPreviewed("continuous", {"recipes/gpt.lua", "--grid", "learning_rate=1e-5..1e-3:log", "--random", "64",
                                 "--where", "learning_rate < 5e-4"});
}

TEST(SweepCommand, SelectsOneShardOfAFilesTrials) {
  ExpectPreviewed("shard", {"recipes/sweep_gpt.lua", "--shard", "1/4", "--max-time", "2h"});
}

TEST(SweepCommand, RefusesMistakes) {
  ExpectRefused("no_sweep", {"recipes/gpt.lua"});
  ExpectRefused("unknown_name", {"recipes/gpt.lua", "--grid", "learning_rat=1,2", "--grid", "steps=1,x"});
  ExpectRefused("given_twice", {"recipes/gpt.lua", "steps=5", "--grid", "steps=1,2"});
  ExpectRefused("unknown_in_where", {"recipes/gpt.lua", "--grid", "steps=1,2", "--where", "bubbel < 1"});
  ExpectRefused("grid_of_a_file", {"recipes/sweep_gpt.lua", "--grid", "steps=1,2"});
  ExpectRefused("uncountable", {"recipes/gpt.lua", "--grid", "learning_rate=1e-5..1e-3:log"});
  ExpectRefused("stop_without_objective", {"recipes/gpt.lua", "--grid", "steps=1,2", "--asha", "step:1..64/4"});
  ExpectRefused("words", {"recipes/gpt.lua", "--grid", "steps", "--zip", "heads=1,2", "layers=1"});
  ExpectRefused("options", {"recipes/gpt.lua", "--grid", "steps=1,2", "--asha", "step", "--shard", "4", "--retry-on",
                            "timeout,lost", "--max-time", "soon", "--name", "a/b", "--metric", "loss=x"});
  ExpectRefused("nothing_to_do", {"recipes/gpt.lua", "--grid", "steps=1,2", "--slots", "0", "--seed", "3"});
  ExpectRefused("of_one_run", {"recipes/gpt.lua", "--grid", "steps=1,2", "--checkpoint", "x"});
  ExpectRefused("spares", {"recipes/gpt.lua", "--grid", "steps=1,2", "--host", "a,b:8", "--spares", "1"});
}

// Prevents: a sweep with nothing to vary runs one trial and reports success.
TEST(SweepCommand, RefusesAnEmptySpace) { ExpectRefused("empty_space", {"tests/golden/sweep/empty_space.lua"}); }

TEST(SweepCommand, RefusesAFixedValueOfASweptParameter) {
  ExpectRefused("fixed_and_swept", {"tests/golden/sweep/fixed_and_swept.lua"});
}

// Prevents: a sweep whose condition rejects every point ends without naming that condition.
TEST(SweepCommand, NamesTheConditionThatRejectsEveryPoint) {
  const TempDir folder;
  const CommandResult result =
      Muster({"sweep", "recipes/hello.lua", "--grid", "greetings=1,2", "--where", "greetings > 5"},
             {"MUSTER_HOME=" + folder.path()});
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_NE(result.err.find(
                "no point is possible: greetings > 5 does not hold; `--preview` counts the points that each condition "
                "rejects\n"),
            std::string::npos)
      << result.err;
}

TEST(RefusedSweep, NamesTheFormOfAnAxis) {
  for (const char* word : {"sizes:=[1,2],[3]", "sizes@=file"}) {
    const OneRecipe recipe(kOneWorker, "params = { sizes = muster.list { { 1 } } },");
    const CommandResult result = Muster({"sweep", recipe.path(), "--preview", "--grid", word});
    EXPECT_EQ(result.exit_code, 2) << word;
    EXPECT_NE(result.err.find("NAME=VALUES"), std::string::npos) << result.err;
    EXPECT_EQ(result.err.find("did you mean"), std::string::npos) << result.err;
  }
}

TEST(RefusedSweep, LeavesNoDirectory) {
  const OneRecipe recipe(kOneWorker, "params = { lr = muster.float { 0.1 } },");
  for (const std::vector<std::string>& refused : std::vector<std::vector<std::string>>{
           {"--metric", "loss=loss: (\\S+", "--minimize", "loss"}, {"--max-time", "30"}}) {
    std::vector<std::string> words = {"sweep", recipe.path(), "--grid", "lr=0.1,0.2"};
    words.insert(words.end(), refused.begin(), refused.end());
    const CommandResult result = Muster(words, {"MUSTER_HOME=" + (recipe / "home")});
    EXPECT_EQ(result.exit_code, 2) << refused[0] << result.err;
    EXPECT_FALSE(std::filesystem::exists(recipe / "home")) << refused[0];
  }
}

}  // namespace
}  // namespace muster::testing
