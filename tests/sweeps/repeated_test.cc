// Tests sweeps that repeat their points with several seeds: the race, the best point, and resuming.
#include <chrono>
#include <filesystem>
#include <map>
#include <set>
#include <string>

#include <gtest/gtest.h>

#include "sweeps/sweep_case.h"

namespace muster::testing {
namespace {

// Less than 0.1 depends on the seed; 1 is the difference of two points, and x = 1 is 0.01 better than x = 2.
class RepeatedSweep : public ::testing::Test {
 protected:
  RepeatedSweep()
      : sweep_("x = muster.int { 1 }, seed = muster.int { 0 }",
               "local noise = 0.04 * ((p.seed * 7 + p.x) % 3)\n"
               "local loss = (p.x == 2 and 1.01 or p.x) + noise\n"
               "job:workers { count = 1, command = { 'muster', 'report-metric', 'loss=' .. loss } }") {}

  CommandResult Run(Words words) {
    words.insert(words.end(), "--no-progress");
    return sweep_.Muster(words);
  }

  // What muster shows that the journal does not say.
  static std::string RecomputedOf(const SweepCase& sweep) {
    const CommandResult checked =
        RunCommand({{"/usr/bin/python3", "-B", MUSTER_SOURCE_DIR "/tests/support/recompute_sweep.py", MusterProgram(),
                     std::filesystem::canonical(sweep.sweep())},
                    {"PATH=/usr/bin:/bin", "TZ=UTC"},
                    sweep.home()});
    return checked.exit_code == 0 ? "" : checked.out + checked.err;
  }
  std::string Recomputed() const { return RecomputedOf(sweep_); }

  SweepCase sweep_;
};

TEST_F(RepeatedSweep, LeavesOutSeedsOfPointsThatAreClearlyWorse) {
  const CommandResult run =
      Run({"sweep", "recipe.lua", "--grid", "x=1,2,5,9", "--seeds", "3", "--minimize", "loss", "--slots", "1"});
  EXPECT_EQ(run.exit_code, 0) << run.err;
  EXPECT_EQ(sweep_.Wrong(), "");
  std::map<int, int> seeds;
  for (const json& record : sweep_.Records("attempt_began")) ++seeds[record["point"]["x"].get<int>()];
  EXPECT_EQ(seeds, (std::map<int, int>{{1, 3}, {2, 3}, {5, 1}, {9, 1}})) << run.err;
  EXPECT_TRUE(Says(run.err, "4 repetitions left out")) << run.err;
  const json best = json::parse(sweep_.Muster({"best", "-n", "2", "--json"}).out);
  ASSERT_EQ(best["points"].size(), 2U) << best;
  EXPECT_EQ(best["points"][0]["point"], json({{"x", 1}})) << best;
  EXPECT_EQ(best["points"][0]["trials"].size(), 3U);
  EXPECT_NEAR(best["points"][0]["value"].get<double>(), 1.04, 1e-9);
  EXPECT_GT(best["second_differs"].get<double>(), 0.05);
  const CommandResult shown = sweep_.Muster({"best"});
  EXPECT_TRUE(Says(shown.out, "the second, x=2, is not distinguishable from it: Welch's t-test, p = ")) << shown.out;
  EXPECT_EQ(json::parse(sweep_.Muster({"show", "job:best", "--json"}).out)["attempts"][0]["point"]["x"], 1);
}

TEST_F(RepeatedSweep, IsDescribedInAFileAndContinuesIfItIsResumed) {
  const auto write = [&](int trials) {
    sweep_.Write(
        "sweep.lua",
        "local muster = require 'muster'\nreturn muster.sweep { name = 'job', recipe = muster.load 'recipe.lua',\n"
        "space = { x = { 1, 2, 5, 9 } }, objective = muster.minimize 'loss', budget = { trials = " +
            std::to_string(trials) + " },\nseeds = { count = 3, rank_by = 'median', race = false } }\n");
  };
  write(5);
  const CommandResult preview = sweep_.Muster({"sweep", "sweep.lua", "--preview"});
  EXPECT_TRUE(Says(preview.out, "seeds     3 values of seed for each point, ranked by the median\n")) << preview.out;
  EXPECT_EQ(Run({"sweep", "sweep.lua", "--slots", "1"}).exit_code, 0);
  EXPECT_EQ(sweep_.Records("attempt_began").size(), 5U);
  const CommandResult none = sweep_.Muster({"best", "-n", "9", "--json"});
  EXPECT_EQ(json::parse(none.out)["points"].size(), 1U) << none.out;
  write(12);
  const CommandResult resumed = Run({"resume", "--accept"});
  EXPECT_EQ(resumed.exit_code, 0) << resumed.err;
  EXPECT_EQ(sweep_.Wrong(12), "");
  std::set<std::string> points;
  for (const json& record : sweep_.Records("attempt_began")) points.insert(record["point"].dump());
  EXPECT_EQ(points.size(), 12U) << "no repetition twice";
}

TEST_F(RepeatedSweep, ShowsEachPointWithItsRepetitionsEverywhere) {
  const CommandResult run =
      Run({"sweep", "recipe.lua", "--grid", "x=1,2,5,9", "--seeds", "3", "--minimize", "loss", "--slots", "1"});
  ASSERT_EQ(run.exit_code, 0) << run.err;
  const json points = json::parse(sweep_.Muster({"ls", "job", "--json"}).out)["points"];
  ASSERT_EQ(points.size(), 4U);
  EXPECT_EQ(points[0], json::parse(sweep_.Muster({"best", "--json"}).out)["points"][0]);
  EXPECT_NEAR(points[0]["value"].get<double>(), 1.04, 1e-9);
  EXPECT_NEAR(points[0]["deviation"].get<double>(), 0.04, 1e-9);
  EXPECT_EQ(points[0]["results"], 3);
  EXPECT_EQ(points[0]["ranked"], true);
  EXPECT_EQ(points[3]["point"], json({{"x", 9}}));
  EXPECT_EQ(points[3]["results"], 1);
  EXPECT_EQ(points[3]["ranked"], false);
  const std::string listed = sweep_.Muster({"ls", "job"}).out;
  EXPECT_EQ(listed.find("RESULTS  loss"), 0U) << listed;
  EXPECT_TRUE(Says(listed, "\n3 of 3   1.04")) << listed;
  EXPECT_TRUE(Says(listed, "\n1 of 3   ")) << listed;
  EXPECT_TRUE(Says(listed, "\n\nTRIAL  ID")) << listed;
  EXPECT_FALSE(Says(sweep_.Muster({"ls", "job", "--where", "x == 1"}).out, "RESULTS"));
  EXPECT_EQ(Recomputed(), "");
}

// What is stopped early is neither in the mean of its point nor in its ranking, and its point gets no further seed.
TEST_F(RepeatedSweep, TakesNoRepetitionThatWasStoppedAsAResult) {
  const SweepCase stopping("x = muster.int { 1 }, seed = muster.int { 0 }",
                           R"(local loss = '' .. p.x + 0.1 * p.seed
job:workers { count = 1, command = { 'sh', '-c', [[for e in 1 2 3 4; do
  echo "{\"step\": $e, \"loss\": $0}" >> "$MUSTER_METRICS"; sleep 0.1; done]], loss } })");
  const CommandResult run = stopping.Muster({"sweep", "recipe.lua", "--grid", "x=1,2,3", "--seeds", "3", "--minimize",
                                             "loss", "--asha", "step:1..4/2", "--slots", "1", "--no-progress"});
  ASSERT_EQ(run.exit_code, 0) << run.err;
  EXPECT_EQ(stopping.Wrong(), "");
  const json listed = json::parse(stopping.Muster({"ls", "job", "--json"}).out);
  ASSERT_EQ(listed["points"].size(), 3U) << listed;
  EXPECT_EQ(listed["points"][0]["results"], 3);
  EXPECT_EQ(listed["points"][1]["results"], 0);
  EXPECT_EQ(listed["points"][1]["value"], nullptr);
  EXPECT_EQ(listed["points"][1]["trials"].size(), 1U) << listed;
  EXPECT_TRUE(Says(stopping.Muster({"show", "job"}).out, "one of its seeds was stopped early"));
  EXPECT_TRUE(Says(run.err, " points, the best ")) << run.err;
  EXPECT_EQ(RecomputedOf(stopping), "");
}

TEST_F(RepeatedSweep, TriesAChosenPointWithAllSeedsAndANamedOneAlone) {
  const auto seeds_of = [&](int x) {
    std::set<int> seeds;
    for (const json& record : sweep_.Records("attempt_began")) {
      if (record["point"]["x"] == x) seeds.insert(record["point"]["seed"].get<int>());
    }
    return seeds;
  };
  const std::set<int> all = {0, 1, 2};
  const CommandResult first = Run({"sweep", "recipe.lua", "--grid", "x=1,2", "--seeds", "3", "--minimize", "loss",
                                   "--try", "x=4", "--try", "x=6,seed=2"});
  EXPECT_EQ(first.exit_code, 0) << first.err;
  EXPECT_EQ(seeds_of(4), all);
  EXPECT_EQ(seeds_of(6), (std::set<int>{2}));
  EXPECT_EQ(seeds_of(1), all) << "they take no trial of the grid";
  EXPECT_EQ(Run({"resume", "--try", "x=0"}).exit_code, 0);
  EXPECT_EQ(seeds_of(0), all);
  EXPECT_EQ(Run({"resume", "--try", "x=7,seed=1"}).exit_code, 0);
  EXPECT_EQ(seeds_of(7), (std::set<int>{1}));
  EXPECT_EQ(sweep_.Wrong(), "");
  EXPECT_EQ(Recomputed(), "");
}

TEST_F(RepeatedSweep, TriesASteeredPointWithAllSeeds) {
  const SweepCase steered(
      "x = muster.int { 1 }, seed = muster.int { 0 }",
      R"(job:workers { count = 1, command = { 'sh', '-c', [[echo "{\"loss\": $0}" >> "$MUSTER_METRICS"
  while [ ! -e "$1" ]; do sleep 0.02; done]], '' .. p.x, here .. '/go' } })");
  StartedProgram head =
      steered.StartSweep({"--grid", "x=1,2", "--seeds", "3", "--minimize", "loss", "--slots", "1", "-q"});
  while (steered.sweep().empty() || !std::filesystem::exists(steered.journal()) ||
         steered.Records("attempt_began").empty()) {
    ASSERT_FALSE(AwaitReadable(head.pidfd(), std::chrono::milliseconds(5))) << steered.Errors();
  }
  const CommandResult asked = steered.Muster({"steer", "--try", "x=0", "--try", "x=9,seed=2", "--json"});
  EXPECT_EQ(asked.exit_code, 0) << asked.err;
  EXPECT_EQ(json::parse(asked.out)["trials"], 10);
  steered.Write("go", "");
  EXPECT_EQ(head.End(), 0) << steered.Errors();
  EXPECT_EQ(steered.Wrong(), "");
  std::map<int, std::set<int>> seeds;
  for (const json& record : steered.Records("attempt_began")) {
    seeds[record["point"]["x"].get<int>()].insert(record["point"]["seed"].get<int>());
  }
  EXPECT_EQ(seeds[0], (std::set<int>{0, 1, 2}));
  EXPECT_EQ(seeds[9], (std::set<int>{2}));
}

TEST_F(RepeatedSweep, NeedsTheParameterOfItsSeeds) {
  const CommandResult wrong = Run({"sweep", "recipe.lua", "--grid", "x=1,2", "--seeds", "sed=3", "--minimize", "loss"});
  EXPECT_EQ(wrong.exit_code, 2);
  EXPECT_TRUE(Says(wrong.err, "sed")) << wrong.err;
  const CommandResult one = Run({"sweep", "recipe.lua", "--grid", "x=1,2", "--seeds", "1", "--minimize", "loss"});
  EXPECT_EQ(one.exit_code, 2);
  EXPECT_TRUE(Says(one.err, "--seeds \"1\" is not a number from 2 to 1000, or NAME=N")) << one.err;
}

}  // namespace
}  // namespace muster::testing
