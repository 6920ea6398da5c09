// Tests sweeps with two objectives: the Pareto front, and where it is shown.
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "sweeps/sweep_case.h"

namespace muster::testing {
namespace {

// The larger x, the smaller the loss and the greater the latency; of two y the second is worse in both.
class TwoObjectives : public ::testing::Test {
 protected:
  TwoObjectives()
      : sweep_("x = muster.int { 1 }, y = muster.int { 0 }",
               "local latency = p.x < 9 and ' latency=' .. (p.x == 8 and 'nan' or p.x + p.y) or ''\n"
               "job:workers { count = 1, command = { 'sh', '-c', '" +
                   MusterProgram() +
                   " report-metric loss=' .. 4 - p.x + p.y .. "
                   "latency } }") {}

  CommandResult Run(Words words) {
    words.insert(words.end(), {"-q", "--no-progress"});
    return sweep_.Muster(words);
  }
  // x and y of the trials of `muster best`.
  std::vector<std::pair<int, int>> Best(Words words = {}) {
    words.insert(words.begin(), {"best", "--json"});
    const json printed = json::parse(sweep_.Muster(words).out);
    EXPECT_EQ(printed["second_objective"]["metric"], "latency");
    std::vector<std::pair<int, int>> points;
    for (const json& trial : printed["trials"]) points.emplace_back(trial["point"]["x"], trial["point"]["y"]);
    return points;
  }

  SweepCase sweep_;
};

// Prevents: what is expected of the first objective alone is taken for what the point was chosen by.
TEST_F(TwoObjectives, AreBothExplainedWithWhatTheyImproveTogether) {
  const CommandResult run = Run({"sweep", "recipe.lua", "--grid", "x=1..7", "--grid", "y=0..3", "--minimize", "loss",
                                 "--minimize", "latency", "--gp", "14", "--seed", "1", "--slots", "1"});
  ASSERT_EQ(run.exit_code, 0) << run.err;
  const json why = json::parse(sweep_.Muster({"explain", "job:13", "--json"}).out);
  ASSERT_EQ(why["how"], "process") << why;
  const json& second = why["process"]["second"];
  EXPECT_EQ(second["metric"], "latency");
  EXPECT_LE(second["from"], second["expected"]);
  EXPECT_LE(second["expected"], second["to"]);
  EXPECT_GE(why["process"]["improvement"], 0);
  const std::string text = sweep_.Muster({"explain", "job:13"}).out;
  EXPECT_TRUE(Says(text, "expected     loss ") && Says(text, "expected     latency ")) << text;
  EXPECT_TRUE(Says(text, " expected, of the area of loss and latency that the results dominate")) << text;
  EXPECT_FALSE(Says(text, "the best so far")) << text;
}

TEST_F(TwoObjectives, HaveAParetoFrontAsTheBest) {
  using Points = std::vector<std::pair<int, int>>;
  const CommandResult run = Run(
      {"sweep", "recipe.lua", "--grid", "x=1,2,3", "--grid", "y=0,1", "--minimize", "loss", "--minimize", "latency"});
  EXPECT_EQ(run.exit_code, 0) << run.err;
  EXPECT_EQ(sweep_.Wrong(6), "");
  EXPECT_EQ(Best(), (Points{{3, 0}, {2, 0}, {1, 0}})) << "by the first objective";
  EXPECT_EQ(Best({"-n", "2"}), (Points{{3, 0}, {2, 0}}));
  EXPECT_EQ(Best({"--where", "y == 1"}), (Points{{3, 1}, {2, 1}, {1, 1}}));
  EXPECT_TRUE(Says(sweep_.Muster({"best"}).out, "loss  latency  x  y")) << sweep_.Muster({"best"}).out;
  EXPECT_TRUE(Says(sweep_.Muster({"ls", "job"}).out, "loss  latency")) << sweep_.Muster({"ls", "job"}).out;
}

TEST_F(TwoObjectives, ComeInTheOrderInWhichTheyAreGiven) {
  const CommandResult preview = sweep_.Muster(
      {"sweep", "recipe.lua", "--grid", "x=1,2", "--maximize", "latency", "--minimize", "loss", "--preview"});
  EXPECT_TRUE(Says(preview.out, "objective the largest latency, and the smallest loss\n"))
      << preview.out << preview.err;
  sweep_.Write(
      "sweep.lua",
      "local muster = require 'muster'\nreturn muster.sweep { name = 'job', recipe = muster.load 'recipe.lua',\n"
      "space = { x = { 1, 2 } }, objective = { muster.minimize 'loss', muster.maximize 'latency' } }\n");
  EXPECT_TRUE(Says(sweep_.Muster({"sweep", "sweep.lua", "--preview"}).out,
                   "objective the smallest loss, and the largest latency\n"));
}

TEST_F(TwoObjectives, BothHaveToBeReportedAsNumbers) {
  const CommandResult run =
      Run({"sweep", "recipe.lua", "--grid", "x=1,8,9", "--minimize", "loss", "--minimize", "latency"});
  EXPECT_EQ(run.exit_code, 4) << run.err;
  EXPECT_EQ(sweep_.Of(1, "attempt_ended").at(0)["class"], "diverged");
  EXPECT_EQ(sweep_.Of(2, "attempt_ended").at(0)["class"], "no_result");
  EXPECT_EQ(sweep_.Of(2, "attempt_ended").at(0)["why"],
            "it never reported latency, the second objective of the sweep; it reported loss");
}

TEST_F(TwoObjectives, AreTwoDifferentOnes) {
  const CommandResult same =
      Run({"sweep", "recipe.lua", "--grid", "x=1,2", "--minimize", "loss", "--maximize", "loss"});
  EXPECT_EQ(same.exit_code, 2);
  EXPECT_TRUE(Says(same.err, "both objectives of the sweep are of \"loss\"")) << same.err;
  const CommandResult three =
      Run({"sweep", "recipe.lua", "--grid", "x=1,2", "--minimize", "loss", "--minimize", "a", "--minimize", "b"});
  EXPECT_EQ(three.exit_code, 2);
  EXPECT_TRUE(Says(three.err, "3 objectives: a sweep has at most two")) << three.err;
}

}  // namespace
}  // namespace muster::testing
