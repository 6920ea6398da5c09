// Tests repeating runs: muster replay, and a RUN given as the recipe.
#include <filesystem>
#include <fstream>
#include <iterator>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "cli/muster_command.h"

namespace muster::testing {
namespace {

namespace fs = std::filesystem;

// A recipe with a file beside it, a folder for runs, and one run.
class Replay : public ::testing::Test {
 protected:
  Replay() {
    std::ofstream(recipe_ / "beside.txt") << "x";
    first_ = Run({"run", recipe_.path(), "word=one two", "--", "extra"});
  }

  // Returns the run directory.
  std::string Run(std::vector<std::string> words, int exit_code = 0) {
    const std::string folder = runs_ / std::to_string(++count_);
    words.insert(words.begin() + 1, {"--run-dir", folder, "--quiet"});
    const CommandResult result = Muster(std::move(words), {"MUSTER_HOME=" + (runs_ / "home")});
    EXPECT_EQ(result.exit_code, exit_code) << result.err;
    return folder;
  }

  static nlohmann::json Json(const std::string& file) {
    std::ifstream stream(file);
    return nlohmann::json::parse(stream);
  }
  static std::string Text(const std::string& file) {
    std::ifstream stream(file);
    return {std::istreambuf_iterator<char>(stream), {}};
  }
  static std::string Log(const std::string& run) { return Text(run + "/logs/worker.0.0.log"); }

  OneRecipe recipe_{
      "job:workers { count = 1, devices = 0, command = { \"/bin/echo\", p.word, p.times, muster.here \"beside.txt\", "
      "job.args } }",
      "params = { word = muster.string { \"none\" }, times = muster.int { 1 } },"};
  TempDir runs_;
  int count_ = 0;
  std::string first_;
};

TEST_F(Replay, RunsTheSamePlanAgainAndNamesTheOriginal) {
  const std::string again = Run({"replay", first_});
  EXPECT_EQ(Log(again), Log(first_));
  const auto report = Json(again + "/report.json");
  const auto before = Json(first_ + "/report.json");
  EXPECT_EQ(report["plan"], before["plan"]);
  EXPECT_NE(report["run"], before["run"]);
  EXPECT_EQ(report["parent"], before["run"]);
  EXPECT_TRUE(before["parent"].is_null());
  EXPECT_NE(Text(again + "/report.txt").find("from      run " + before["run"].get<std::string>()), std::string::npos);
  EXPECT_EQ(Text(again + "/recipe/recipe.lua"), Text(first_ + "/recipe/recipe.lua"));
}

TEST_F(Replay, WorksWithoutTheRecipe) {
  fs::remove(recipe_.path());
  EXPECT_EQ(Log(Run({"replay", first_})), Log(first_));
}

TEST_F(Replay, RunsTheStoredRecipeWithOtherParameters) {
  std::ofstream(recipe_.path()) << "this is no recipe any more";
  const std::string again = Run({"run", first_, "times=7"});
  EXPECT_EQ(Log(again), "one two 7 " + recipe_ / "beside.txt" + " extra\n") << "what was said then still holds";
  EXPECT_EQ(Json(again + "/report.json")["parent"], Json(first_ + "/report.json")["run"]);
  const std::string third = Run({"run", again, "word=w", "--", "other"});
  EXPECT_EQ(Log(third), "w 7 " + recipe_ / "beside.txt" + " other\n");
  EXPECT_EQ(Json(third + "/report.json")["parent"], Json(again + "/report.json")["run"]);
}

TEST_F(Replay, SaysThatAnEditedRecipeBesideIsNotTaken) {
  for (const char* command : {"plan", "check"}) {
    EXPECT_EQ(Muster({command, first_}).err.find("from the stored recipe"), std::string::npos) << command;
  }
  std::ofstream(recipe_.path(), std::ios::app) << "-- edited\n";
  for (const char* command : {"plan", "check"}) {
    const std::string err = Muster({command, first_}).err;
    EXPECT_NE(err.find("is from the stored recipe of run"), std::string::npos) << command << err;
    EXPECT_NE(err.find("recipe.lua beside it differs"), std::string::npos) << command << err;
  }
  fs::remove(recipe_.path());
  EXPECT_EQ(Muster({"plan", first_}).err.find("from the stored recipe"), std::string::npos)
      << "nothing else could be meant";
}

TEST_F(Replay, ComparesRunsByTheirParameters) {
  const std::string again = Run({"run", first_, "times=7"});
  const CommandResult result = Muster({"diff", first_, again});
  EXPECT_EQ(result.exit_code, 1) << result.err;
  EXPECT_NE(result.out.find("times  1 → 7  (parameter, command line)\n  command   command[2]  1 → 7  worker\n"),
            std::string::npos)
      << result.out;
  EXPECT_EQ(Muster({"diff", again, first_, "times=7"}).exit_code, 0);
}

TEST_F(Replay, ComparesCommandLinesOfRuns) {
  const std::string again = Run({"run", first_, "--", "other"});
  const CommandResult result = Muster({"diff", first_, again});
  EXPECT_EQ(result.exit_code, 1) << result.err;
  EXPECT_NE(result.out.find("words after --  extra → other  (call)\n  command   command[4]  extra → other  worker\n"),
            std::string::npos)
      << result.out;
}

TEST_F(Replay, ExplainsARun) {
  const CommandResult result = Muster({"explain", first_, "word"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_NE(result.out.find("word = \"one two\"    command line\n"), std::string::npos) << result.out;
}

TEST_F(Replay, ReportsThatARunOfAPlanHasNoRecipe) {
  const std::string of_plan = Run({"run", "--plan", first_ + "/plan.json"});
  const CommandResult result = Muster({"run", of_plan, "times=7"});
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_NE(result.err.find("it keeps no sources: it was started from a plan"), std::string::npos) << result.err;
  EXPECT_EQ(Log(Run({"replay", of_plan})), Log(first_));
}

TEST_F(Replay, RefusesAnythingButARun) {
  EXPECT_EQ(Muster({"replay", "/no/such/run"}).exit_code, 2);
  EXPECT_EQ(Muster({"replay", first_, "times=7"}).exit_code, 2) << "a plan takes no parameters";
}

}  // namespace
}  // namespace muster::testing
