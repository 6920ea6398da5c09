// Tests sweeps that repeat their points with several seeds: the race, the best point, and resuming.
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
