// Tests points that users choose for a sweep, on the command line, in a file and while it runs.
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "sweeps/sweep_case.h"

namespace muster::testing {
namespace {

// The recipe refuses n = 13. Each trial ends when the file "go" exists.
class ChosenPointsOfSweep : public ::testing::Test {
 protected:
  ChosenPointsOfSweep()
      : sweep_(
            "x = muster.float { 0, min = 0 }, n = muster.int { 1 }, note = muster.string { '' }",
            "job:check(p.n ~= 13, 'n = 13 brings bad luck')\n"
            R"(job:workers { count = 1, command = { 'sh', '-c', 'until [ -e ' .. here .. '/go ]; do sleep 0.02; done; ' ..
                  [[echo "{\"loss\":$0}" >> "$MUSTER_METRICS"]], tostring((p.x - 0.3) ^ 2) } })") {}

  std::vector<std::string> Tried() const {
    std::vector<std::string> tried;
    for (const json& record : sweep_.Records("attempt_began")) tried.push_back(record["point"].dump());
    return tried;
  }

  SweepCase sweep_;
};

TEST_F(ChosenPointsOfSweep, AreTriedFirst) {
  sweep_.Write("go", "");
  const CommandResult run = sweep_.Sweep({"--grid", "x=0.1,0.2", "--grid", "n=1", "--slots", "1", "-q", "--try",
                                          "x=0.25,n=7", "--try", "{\"x\": 3, \"n\": 8}", "--minimize", "loss"});
  ASSERT_EQ(run.exit_code, 0) << run.err;
  EXPECT_EQ(Tried(), (std::vector<std::string>{R"({"n":7,"x":0.25})", R"({"n":8,"x":3.0})", R"({"n":1,"x":0.1})",
                                               R"({"n":1,"x":0.2})"}));
  EXPECT_EQ(sweep_.Wrong(4), "");
  const CommandResult more = sweep_.Muster({"resume", "-q", "--try", "x=0.3,n=2"});
  ASSERT_EQ(more.exit_code, 0) << more.err;
  EXPECT_EQ(Tried().back(), R"({"n":2,"x":0.3})");
  EXPECT_EQ(Tried().size(), 5U) << "those of the beginning are not repeated";
  EXPECT_EQ(sweep_.Wrong(5), "");
  EXPECT_TRUE(Says(sweep_.Muster({"best"}).out, "0.3"));
}

TEST_F(ChosenPointsOfSweep, ThatWereTriedAreReportedAtOnce) {
  sweep_.Write("go", "");
  const CommandResult run = sweep_.Sweep({"--grid", "n=1..2", "-q", "--try", "n=5", "--try", "n=5", "--name", "s"});
  ASSERT_EQ(run.exit_code, 0) << run.err;
  EXPECT_TRUE(Says(run.err, "warning: the chosen point n=5 is given twice: it is tried once")) << run.err;
  const CommandResult more = sweep_.Muster({"resume", "-q", "--try", "n=2", "--try", "n=7"});
  ASSERT_EQ(more.exit_code, 0) << more.err;
  EXPECT_TRUE(Says(more.err, "warning: the chosen point n=2 was tried already: it is trial ")) << more.err;
  EXPECT_FALSE(Says(more.err, "n=7")) << more.err;
  EXPECT_EQ(Tried().back(), R"({"n":7})");
  EXPECT_EQ(Tried().size(), 4U);
}

TEST_F(ChosenPointsOfSweep, NameTheAxesThatTheyLack) {
  sweep_.Write("sweep.lua",
               "local muster = require 'muster'\nreturn muster.sweep { name = 'when', recipe = muster.load "
               "'recipe.lua', space = { n = muster.choice { 1, 2 }, muster.when({ n = 2 }, { x = muster.uniform(0, 1) "
               "}) }, sampler = muster.random { trials = 2 } }\n");
  const CommandResult lacks = sweep_.Muster({"sweep", "sweep.lua", "--preview", "--try", "n=2"});
  EXPECT_EQ(lacks.exit_code, 2);
  EXPECT_TRUE(Says(lacks.err, "the chosen point n=2 has no value of x\n")) << lacks.err;
  EXPECT_TRUE(Says(lacks.err, "each point of the sweep with n=2 has one: add x, of uniform(0, 1)")) << lacks.err;
  EXPECT_EQ(sweep_.Muster({"sweep", "sweep.lua", "--preview", "--try", "n=1"}).exit_code, 0);
}

TEST_F(ChosenPointsOfSweep, AreRefusedWithTheWordsOfTheRecipe) {
  const CommandResult refused = sweep_.Sweep({"--grid", "n=1..20", "--try", "n=5", "--try", "n=13", "--preview"});
  EXPECT_EQ(refused.exit_code, 2);
  EXPECT_TRUE(Says(refused.err, "recipe.lua:6: error: n = 13 brings bad luck (the chosen point n=13)")) << refused.err;
  const struct {
    const char* point;
    const char* why;
  } cases[] = {{"m=1", "m"},        {"x=1", "x is not swept"},     {"n=1.5", "n"},    {"n=1,n=2", "n is given twice"},
               {"n", "NAME=VALUE"}, {"{\"n\":", "not valid JSON"}, {"", "NAME=VALUE"}};
  for (const auto& test : cases) {
    const CommandResult wrong = sweep_.Sweep({"--grid", "n=1..20", "--try", test.point});
    EXPECT_EQ(wrong.exit_code, 2) << test.point;
    EXPECT_TRUE(Says(wrong.err, test.why)) << test.point << ": " << wrong.err;
  }
  const CommandResult part = sweep_.Sweep({"--grid", "n=1..20", "--grid", "x=0,1", "--try", "n=5"});
  EXPECT_TRUE(Says(part.err, "the chosen point n=5 has no value of x")) << part.err;
  EXPECT_EQ(sweep_.sweep(), "") << "nothing began";
}

TEST_F(ChosenPointsOfSweep, OfAFileHaveItsFixedValues) {
  sweep_.Write("go", "");
  sweep_.Write("sweep.lua",
               "local muster = require 'muster'\nreturn muster.sweep { name = 'seeded', recipe = muster.load "
               "'recipe.lua', space = { x = muster.uniform(0, 1), n = 4 }, objective = muster.minimize 'loss',\n"
               "seed_points = { { x = 0.5 }, { x = 2, n = 4 } }, sampler = muster.tpe { seed = 1, trials = 3 } }\n");
  const CommandResult preview = sweep_.Muster({"sweep", "sweep.lua", "--preview"});
  EXPECT_TRUE(Says(preview.out, "first     2 chosen points\n")) << preview.out << preview.err;
  EXPECT_TRUE(Says(preview.err, "n=4, x=2 is not in the space of the sweep: it is tried, and tpe learns nothing"))
      << preview.err;
  const CommandResult run = sweep_.Muster({"sweep", "sweep.lua", "--slots", "1", "-q", "--try", "x=0.6"});
  ASSERT_EQ(run.exit_code, 0) << run.err;
  const auto tried = Tried();
  ASSERT_EQ(tried.size(), 6U);
  EXPECT_EQ(tried[0], R"({"n":4,"x":0.5})");
  EXPECT_EQ(tried[1], R"({"n":4,"x":2.0})");
  EXPECT_EQ(tried[2], R"({"n":4,"x":0.6})");
  EXPECT_EQ(sweep_.Wrong(6), "");

  sweep_.Write("wrong.lua",
               "local muster = require 'muster'\nreturn muster.sweep { recipe = muster.load 'recipe.lua',\n"
               "space = { n = { 1, 2 } }, seed_points = { n = 3 } }\n");
  const CommandResult wrong = sweep_.Muster({"sweep", "wrong.lua"});
  EXPECT_EQ(wrong.exit_code, 2);
  EXPECT_TRUE(Says(wrong.err, "seed_points must be a list of points")) << wrong.err;
}

TEST_F(ChosenPointsOfSweep, AreAddedWhileItRunsAndSurviveAKilledHead) {
  std::optional<StartedProgram> head =
      sweep_.StartSweep({"--grid", "n=1..6", "--slots", "1", "-q", "--name", "steered"});
  while (sweep_.sweep().empty() || !std::filesystem::exists(sweep_.journal()) ||
         sweep_.Records("attempt_began").empty()) {
    ASSERT_FALSE(AwaitReadable(head->pidfd(), std::chrono::milliseconds(5))) << sweep_.Errors();
  }
  const CommandResult refused = sweep_.Muster({"steer", "steered", "--try", "n=13"});
  EXPECT_EQ(refused.exit_code, 2) << refused.out;
  EXPECT_TRUE(Says(refused.err, "n = 13 brings bad luck")) << refused.err;
  EXPECT_TRUE(sweep_.Records("sweep_steered").empty());
  const CommandResult steered = sweep_.Muster({"steer", "steered", "--try", "n=99", "--try", "n=6", "--json"});
  ASSERT_EQ(steered.exit_code, 0) << steered.err;
  EXPECT_EQ(json::parse(steered.out)["trials"], 8);
  const CommandResult again = sweep_.Muster({"steer", "steered", "--try", "n=1", "--slots", "1", "--json"});
  EXPECT_EQ(again.exit_code, 0) << again.err;
  EXPECT_TRUE(Says(again.err, "the chosen point n=1 was tried already: it is trial 0")) << again.err;
  EXPECT_EQ(json::parse(again.out)["trials"], 8);
  const CommandResult nothing = sweep_.Muster({"steer", "steered", "--try", "n=1"});
  EXPECT_EQ(nothing.exit_code, 2) << nothing.err;
  EXPECT_TRUE(Says(nothing.err, "nothing to change: all chosen points were tried already")) << nothing.err;
  head->Signal(SIGKILL);
  head->End();
  ASSERT_TRUE(sweep_.NothingLeft());
  sweep_.Write("go", "");
  const CommandResult resumed = sweep_.Muster({"resume", "steered", "-q"});
  ASSERT_EQ(resumed.exit_code, 0) << resumed.err;
  EXPECT_EQ(sweep_.Wrong(8), "");
  const auto tried = Tried();
  ASSERT_EQ(tried.size(), 8U);  // the first has two attempts
  EXPECT_EQ(tried[0], R"({"n":1})");
  EXPECT_TRUE(std::find(tried.begin(), tried.begin() + 4, R"({"n":99})") != tried.begin() + 4);
  EXPECT_TRUE(std::find(tried.begin(), tried.begin() + 4, R"({"n":6})") != tried.begin() + 4) << "moved forward";
  const CommandResult over = sweep_.Muster({"steer", "steered", "--try", "n=50"});
  EXPECT_NE(over.exit_code, 0);
  EXPECT_TRUE(Says(over.err, "muster resume steered --try n=50")) << over.err;
}

}  // namespace
}  // namespace muster::testing
