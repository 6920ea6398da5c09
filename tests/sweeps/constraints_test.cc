// Tests sweeps with constraints on metrics: which trials are infeasible, and where that is said.
#include <string>

#include <gtest/gtest.h>

#include "sweeps/sweep_case.h"

namespace muster::testing {
namespace {

// The smaller x, the smaller the loss, and the more memory is needed; x = 5 does not report it.
class ConstrainedSweep : public ::testing::Test {
 protected:
  ConstrainedSweep()
      : sweep_("x = muster.int { 1 }",
               "local memory = p.x < 5 and ' memory=' .. (6 - p.x) * 1073741824 or ''\n"
               "job:workers { count = 1, command = { 'sh', '-c', '" +
                   MusterProgram() + " report-metric loss=' .. p.x .. memory } }") {}

  CommandResult Run(Words words) {
    words.insert(words.end(), "--no-progress");
    return sweep_.Muster(words);
  }

  SweepCase sweep_;
};

TEST_F(ConstrainedSweep, HasTheBestTrialThatMeetsThem) {
  const CommandResult run =
      Run({"sweep", "recipe.lua", "--grid", "x=1,2,3,4", "--minimize", "loss", "--constraint", "memory <= 3.5GiB"});
  EXPECT_EQ(run.exit_code, 0) << run.err;
  EXPECT_EQ(sweep_.Wrong(4), "");
  EXPECT_TRUE(Says(run.err, "2 ok, 2 infeasible")) << run.err;
  const CommandResult best = sweep_.Muster({"best", "-n", "9", "--json"});
  const json found = json::parse(best.out);
  ASSERT_EQ(found["trials"].size(), 2U) << best.out;
  EXPECT_EQ(found["trials"][0]["point"]["x"], 3);
  const CommandResult list = sweep_.Muster({"ls", "job", "--where", "state == infeasible", "--columns", "x,loss,why"});
  EXPECT_TRUE(Says(list.out, "memory 5368709120 violates memory <= 3.5GiB")) << list.out;
  EXPECT_TRUE(Says(sweep_.Muster({"show"}).out, "2 ok, 2 infeasible"));
  EXPECT_TRUE(Says(sweep_.Muster({"show", "job:0"}).out, "violates memory <= 3.5GiB"));
}

TEST_F(ConstrainedSweep, IsDescribedInAFileAndNotContinuedWithOthers) {
  const auto write = [&](const std::string& bound) {
    sweep_.Write(
        "sweep.lua",
        "local muster = require 'muster'\nreturn muster.sweep { name = 'job', recipe = muster.load 'recipe.lua',\n"
        "space = { x = { 1, 4, 5 } }, objective = muster.minimize 'loss',\n"
        "constraints = { 'memory <= " +
            bound + "' } }\n");
  };
  write("5GiB");
  const CommandResult preview = sweep_.Muster({"sweep", "sweep.lua", "--preview"});
  EXPECT_TRUE(Says(preview.out, "require   memory <= 5GiB\n")) << preview.out << preview.err;
  EXPECT_EQ(Run({"sweep", "sweep.lua", "--constraint", "memory<=4GiB"}).exit_code, 4) << "x = 5 has no result";
  EXPECT_EQ(sweep_.Of(0, "attempt_ended").at(0)["class"], "infeasible");
  EXPECT_EQ(sweep_.Of(1, "attempt_ended").at(0)["class"], "ok");
  EXPECT_EQ(sweep_.Of(2, "attempt_ended").at(0)["class"], "no_result");
  EXPECT_EQ(sweep_.Of(2, "attempt_ended").at(0)["why"],
            "it never reported memory, which a constraint of the sweep goes by; it reported loss");
  EXPECT_EQ(Run({"resume"}).exit_code, 4);
  write("6GiB");
  const CommandResult refused = Run({"resume", "--accept"});
  EXPECT_EQ(refused.exit_code, 2);
  EXPECT_TRUE(Says(refused.err, "constraints are others than when the sweep began")) << refused.err;
}

TEST_F(ConstrainedSweep, SaysIfNoTrialMeetsThem) {
  EXPECT_EQ(
      Run({"sweep", "recipe.lua", "--grid", "x=1,2", "--minimize", "loss", "--constraint", "memory<=1GiB"}).exit_code,
      0);
  const CommandResult best = sweep_.Muster({"best"});
  EXPECT_EQ(best.exit_code, 2);
  EXPECT_TRUE(Says(best.err, "no trial meets the constraints: 2 trials violate them")) << best.err;
}

TEST_F(ConstrainedSweep, RefusesWhatIsNoConstraint) {
  const CommandResult words =
      Run({"sweep", "recipe.lua", "--grid", "x=1,2", "--minimize", "loss", "--constraint", "memory < 1GiB"});
  EXPECT_EQ(words.exit_code, 2);
  EXPECT_TRUE(Says(words.err, "\"memory < 1GiB\" has neither <= nor >=")) << words.err;
  sweep_.Write(
      "sweep.lua",
      "local muster = require 'muster'\nreturn muster.sweep { name = 'job', recipe = muster.load 'recipe.lua',\n"
      "space = { x = { 1, 4 } }, objective = muster.minimize 'loss', constraints = { memory = 5 } }\n");
  const CommandResult file = Run({"sweep", "sweep.lua"});
  EXPECT_EQ(file.exit_code, 2);
  EXPECT_TRUE(Says(file.err, "sweep.lua:2: error: constraints must be a list of texts")) << file.err;
}

TEST(StopAfter, EndsASweepWhoseTrialsAllFailAlike) {
  const SweepCase sweep("x = muster.int { 1 }",
                        "job:workers { count = 1, command = { 'sh', '-c', 'exit ' .. p.x % 2 } }");
  const CommandResult fails =
      sweep.Sweep({"--grid", "x=1,3,5,7,9", "--slots", "1", "--stop-after-failures", "3", "-q"});
  EXPECT_EQ(fails.exit_code, 4) << fails.err;
  EXPECT_EQ(sweep.Records("attempt_began").size(), 3U) << fails.err;
  const json ended = sweep.Records("sweep_ended").at(0);
  EXPECT_FALSE(ended["complete"].get<bool>());
  EXPECT_TRUE(Says(ended["why"].get<std::string>(), "3 trials failed alike, none has a result: crash")) << ended;
  EXPECT_EQ(
      sweep.Sweep({"--grid", "x=1,3,2,5,7", "--name", "other", "--slots", "1", "--stop-after-failures", "3", "-q"})
          .exit_code,
      4);
  EXPECT_EQ(sweep.Records("attempt_began").size(), 5U) << "one has a result";
}

}  // namespace
}  // namespace muster::testing
