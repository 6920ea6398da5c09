// Tests that a sweep which learns from results gets better, and tries the same points if it is interrupted.
#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "sweeps/sweep_case.h"

namespace muster::testing {
namespace {

// The objective is the least at x = 0.3.
class LearningSweep : public ::testing::Test {
 protected:
  LearningSweep()
      : sweep_("x = muster.float { 0 }",
               "job:workers { count = 1, command = { 'muster', 'report-metric', 'loss=' .. (p.x - 0.3) ^ 2 } }") {
    sweep_.Write("sweep.lua",
                 "local muster = require 'muster'\nreturn muster.sweep { name = 'learns', recipe = muster.load "
                 "'recipe.lua', objective = muster.minimize 'loss', space = { x = muster.uniform(0, 1) },\n"
                 "sampler = muster.tpe { seed = 3, trials = 10 } }\n");
  }

  void Run(const Words& words) {
    const CommandResult run = sweep_.Muster(words);
    ASSERT_EQ(run.exit_code, 0) << run.err;
  }
  std::vector<double> Tried() const {
    std::vector<double> tried;
    for (const json& record : sweep_.Records("attempt_began")) tried.push_back(record["point"]["x"].get<double>());
    return tried;
  }

  SweepCase sweep_;
};

TEST_F(LearningSweep, TriesPointsNearTheBestOnes) {
  Run({"sweep", "sweep.lua", "--tpe", "30", "--slots", "1", "-q", "--no-progress"});
  EXPECT_EQ(sweep_.Wrong(30), "");
  const std::vector<double> tried = Tried();
  ASSERT_EQ(tried.size(), 30U);
  const auto near = [](double x) { return x > 0.1 && x < 0.5; };
  EXPECT_GT(std::count_if(tried.begin() + 10, tried.end(), near), 14) << "of 20 that learn; 8 of 20 are in the range";
}

TEST_F(LearningSweep, TriesTheSamePointsIfItIsResumed) {
  Run({"sweep", "sweep.lua", "--slots", "1", "-q", "--no-progress"});
  Run({"resume", "--add-trials", "4", "-q", "--no-progress"});
  Run({"resume", "--add-trials", "4", "-q", "--no-progress"});
  EXPECT_EQ(sweep_.Wrong(18), "");
  const std::vector<double> resumed = Tried();
  Run({"sweep", "sweep.lua", "--tpe", "18", "--slots", "1", "-q", "--no-progress"});
  EXPECT_EQ(Tried(), resumed);
}

TEST_F(LearningSweep, ByAGaussianProcessFindsTheBestAndTriesTheSamePointsIfItIsResumed) {
  Run({"sweep", "sweep.lua", "--gp", "14", "--slots", "1", "-q", "--no-progress"});
  Run({"resume", "--add-trials", "4", "-q", "--no-progress"});
  EXPECT_EQ(sweep_.Wrong(18), "");
  const std::vector<double> resumed = Tried();
  const auto nearest = std::min_element(resumed.begin(), resumed.end(), [](double one, double other) {
    return std::abs(one - 0.3) < std::abs(other - 0.3);
  });
  EXPECT_NEAR(*nearest, 0.3, 0.01);
  Run({"sweep", "sweep.lua", "--gp", "18", "--slots", "1", "-q", "--no-progress"});
  EXPECT_EQ(Tried(), resumed);
}

TEST_F(LearningSweep, SaysWhichSamplerFits) {
  const CommandResult preview = sweep_.Muster({"sweep", "sweep.lua", "--auto", "30", "--preview"});
  EXPECT_EQ(preview.exit_code, 0) << preview.err;
  EXPECT_TRUE(Says(preview.out, "sampler   gp, seed 3, 30 trials")) << preview.out;
  EXPECT_TRUE(Says(preview.out, "auto took gp: 1 axis and 30 trials are few enough for a Gaussian process"))
      << preview.out;
}

TEST_F(LearningSweep, NeedsAnObjective) {
  const CommandResult refused = sweep_.Muster({"sweep", "recipe.lua", "--grid", "x=0..1:0.1", "--tpe", "5"});
  EXPECT_EQ(refused.exit_code, 2);
  EXPECT_TRUE(Says(refused.err, "--minimize")) << refused.err;
}

}  // namespace
}  // namespace muster::testing
