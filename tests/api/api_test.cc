// The public functions of include/muster, and the example program that uses nothing else.
#include <filesystem>
#include <fstream>
#include <string>

#include <gtest/gtest.h>

#include "muster/evaluate.h"
#include "muster/report.h"
#include "muster/run.h"
#include "support/command.h"
#include "support/places.h"
#include "support/temp_dir.h"

namespace muster {
namespace {

const std::string kHello = MUSTER_SOURCE_DIR "/recipes/hello.lua";

std::string Written(const testing::TempDir& folder, const std::string& text) {
  std::ofstream(folder / "recipe.lua") << text;
  return folder / "recipe.lua";
}

// A recipe of two workers; one exits with code 3.
std::string FailingRecipe(const testing::TempDir& folder) {
  return Written(folder, R"(
    local muster = require "muster"
    return muster.recipe {
      name = "failing",
      plan = function(p, job)
        job:workers {
          count = 2,
          command = { "sleep", "60" },
          each = function(process)
            if process.rank == 1 then process.command = { "sh", "-c", "echo out of data; exit 3" } end
          end,
        }
      end,
    })");
}

Result<EvaluatedRecipe> Evaluate(const std::string& file, std::map<std::string, Value> parameters = {}) {
  RecipeInput input;
  input.file = file;
  input.parameters = std::move(parameters);
  input.evaluator = testing::EvaluatorProgram();
  return EvaluateFile(input);
}

RunSettings SettingsIn(const testing::TempDir& folder) {
  RunSettings settings;
  settings.runs_folder = folder / "runs";
  settings.agent = MUSTER_BIN_DIR "/muster-agent";
  return settings;
}

TEST(Api, EvaluatesARecipeWithParameters) {
  const auto recipe = Evaluate(kHello, {{"greetings", Value(3)}});
  ASSERT_TRUE(recipe);
  EXPECT_EQ(recipe->name, "hello");
  EXPECT_EQ(recipe->plan.processes.size(), 3U);
}

TEST(Api, ReportsAllErrorsOfARecipe) {
  const auto recipe = Evaluate(kHello, {{"greetings", Value(0)}, {"nobody", Value(1)}});
  ASSERT_FALSE(recipe);
  ASSERT_EQ(recipe.error().size(), 2U);
  EXPECT_EQ(recipe.error().front().blame, Blame::kRecipe);
}

TEST(Api, RunsAPlanAndReportsIt) {
  const testing::TempDir folder;
  const auto recipe = Evaluate(kHello);
  ASSERT_TRUE(recipe);
  RunSettings settings = SettingsIn(folder);
  settings.tags = {"from=api"};
  const auto run = RunHere(recipe->plan, settings);
  ASSERT_TRUE(run);
  EXPECT_EQ(run->outcome, "ok");
  EXPECT_EQ(run->exit_code, 0);
  const auto report = ReadReport(run->run_dir);
  ASSERT_TRUE(report);
  EXPECT_EQ(report->run_id, run->run_id);
  EXPECT_EQ(report->outcome, "ok");
  EXPECT_FALSE(report->first_failure);
  ASSERT_EQ(report->processes.size(), 2U);
  EXPECT_EQ(report->processes[1].index, 1U);
  EXPECT_EQ(report->processes[1].attempts, 1U);
  EXPECT_EQ(report->processes[1].verdict, "ok");
}

TEST(Api, ReportsTheFirstFailure) {
  const testing::TempDir folder;
  const auto recipe = Evaluate(FailingRecipe(folder));
  ASSERT_TRUE(recipe);
  const auto run = RunHere(recipe->plan, SettingsIn(folder));
  ASSERT_TRUE(run);
  EXPECT_EQ(run->outcome, "failed");
  EXPECT_EQ(run->exit_code, 1);
  const auto report = ReadReport(run->run_dir);
  ASSERT_TRUE(report);
  ASSERT_TRUE(report->first_failure);
  EXPECT_EQ(report->first_failure->index, 1U);
  EXPECT_EQ(report->first_failure->exit_code, 3);
  EXPECT_EQ(report->first_failure->last_lines, std::vector<std::string>{"out of data"});
  EXPECT_EQ(report->processes[0].verdict, "victim");
}

TEST(Api, RefusesAPlanWithNamedHosts) {
  const testing::TempDir folder;
  auto recipe = Evaluate(kHello);
  ASSERT_TRUE(recipe);
  recipe->plan.hosts.front().name = "n01";
  const auto run = RunHere(recipe->plan, SettingsIn(folder));
  ASSERT_FALSE(run);
  EXPECT_EQ(run.error().front().kind, "hosts");
  EXPECT_FALSE(std::filesystem::exists(folder / "runs"));
}

TEST(Api, AFolderWithoutARunHasNoReport) {
  const testing::TempDir folder;
  const auto report = ReadReport(folder.path());
  ASSERT_FALSE(report);
  EXPECT_EQ(report.error().front().kind, "run");
}

TEST(ApiExample, PrintsTheProcessesAndTheOutcome) {
  const testing::TempDir folder;
  const auto good = testing::RunCommand(
      {{MUSTER_BIN_DIR "/evaluate_and_run", kHello, "name=reader"}, {"PATH=/usr/bin:/bin"}, folder.path()});
  EXPECT_EQ(good.out, "worker.0 on host0\nworker.1 on host0\nsucceeded\n") << good.err;
  EXPECT_EQ(good.exit_code, 0);
  const auto bad = testing::RunCommand(
      {{MUSTER_BIN_DIR "/evaluate_and_run", FailingRecipe(folder)}, {"PATH=/usr/bin:/bin"}, folder.path()});
  EXPECT_TRUE(bad.out.starts_with("worker.0 on host0\nworker.1 on host0\nfirst failure: worker.1: "))
      << bad.out << bad.err;
  EXPECT_EQ(bad.exit_code, 1);
}

}  // namespace
}  // namespace muster
