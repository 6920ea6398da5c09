// Tests metrics that a recipe reads from a log: of runs, of restarted processes, and of the trials of a sweep, which
// need not name them again.
#include <string>

#include <gtest/gtest.h>

#include "sweeps/sweep_case.h"

namespace muster::testing {
namespace {

constexpr char kMetrics[] = "metrics = { epoch = [[epoch (\\d+)]], acc = [[acc=(\\S+)]] },";
constexpr char kPrints[] =
    "job:workers { count = 1, command = { 'sh', '-c', 'echo epoch 1 acc=0.5; echo epoch 2 acc=0.' .. p.x .. '; echo "
    "other=' .. p.x } }";

class RecipeMetrics : public ::testing::Test {
 protected:
  RecipeMetrics() : sweep_(kParams, kPrints) { sweep_.WriteRecipe(kParams, kPrints, kMetrics); }

  std::string Out(const Words& words) const {
    const CommandResult result = sweep_.Muster(words);
    EXPECT_EQ(result.exit_code, 0) << result.err;
    return result.out;
  }
  json Page(const std::string& of) const {
    const std::string page = Out({"report", of, "--html", "-"});
    const std::string head = "id=\"page-data\">";
    const std::size_t from = page.find(head) + head.size();
    return json::parse(page.substr(from, page.find("</script>", from) - from));
  }

  SweepCase sweep_;
};

TEST_F(RecipeMetrics, AreThoseOfARunInEveryView) {
  Out({"run", "-q", "recipe.lua", "x=7"});
  EXPECT_EQ(Out({"ls", "--where", "acc > 0.6", "--columns", "x,acc,metric.worker.epoch"}),
            "X  ACC  METRIC.WORKER.EPOCH\n7  0.7  2\n");
  EXPECT_EQ(json::parse(Out({"report", "--json"}))["metrics"][0]["last"], (json{{"epoch", 2}, {"acc", 0.7}}));
  EXPECT_TRUE(Says(Out({"report"}), "worker.0 acc 0.7, epoch 2")) << Out({"report"});
  EXPECT_EQ(Out({"export", "job", "--curves", "--csv"}),
            "role,index,report,param.x,metric.acc,metric.epoch\r\nworker,0,1,7,0.5,1\r\nworker,0,2,7,0.7,2\r\n");
  const json page = Page("job");
  EXPECT_EQ(page["curves"]["metrics"], json({"acc"}));
  EXPECT_EQ(page["curves"]["x"], "epoch");
  EXPECT_TRUE(Says(Out({"export", "job", "--tensorboard", sweep_ / "tb"}), "2 values"));
}

TEST_F(RecipeMetrics, AreJoinedByThoseOfTheCommandLine) {
  Out({"run", "-q", "recipe.lua", "x=7", "--metric", "other=other=(\\d+)", "--metric", "acc=(\\d) acc"});
  EXPECT_EQ(Out({"ls", "--columns", "acc,other"}), "ACC  OTHER\n2    7\n");
  Out({"run", "-q", "job", "x=8"});  // a run of the stored recipe reads them, too
  EXPECT_EQ(Out({"ls", "--columns", "other", "-n", "1"}), "OTHER\n8\n");
}

TEST_F(RecipeMetrics, AreCheckedBeforeAnythingIsMade) {
  for (const Words& words : {Words{"run", "recipe.lua"},
                             {"plan", "recipe.lua"},
                             {"check", "recipe.lua"},
                             {"sweep", "recipe.lua", "--grid", "x=1,2"},
                             {"rehearse", "recipe.lua"}}) {
    Words wrong = words;
    wrong.insert(wrong.end(), {"--metric", "a=(b"});
    const CommandResult refused = sweep_.Muster(wrong);
    EXPECT_EQ(refused.exit_code, 2) << words[0] << refused.err;
    EXPECT_TRUE(Says(refused.err, "is not a valid regular expression: missing )")) << words[0] << refused.err;
  }
  sweep_.WriteRecipe(kParams, kPrints, "metrics = { acc = '(a)(b)', role = 'wrker' },");
  const CommandResult groups = sweep_.Muster({"run", "recipe.lua"});
  EXPECT_EQ(groups.exit_code, 2);
  EXPECT_TRUE(Says(groups.err, "recipe.lua:4: error: the pattern of the metric acc, \"(a)(b)\", has 2 groups"))
      << groups.err;
  sweep_.WriteRecipe(kParams, kPrints, "metrics = { acc = '(a)', role = 'wrker' },");
  const CommandResult role = sweep_.Muster({"run", "recipe.lua"});
  EXPECT_TRUE(Says(role.err, "role \"wrker\", and the plan has no process of it")) << role.err;
  EXPECT_FALSE(std::filesystem::exists(sweep_.home() + "/runs"));
}

TEST_F(RecipeMetrics, GoOnAfterARestart) {
  sweep_.WriteRecipe(
      kParams,
      "job:workers { count = 1, restart = { max = 1, backoff = '1ms' }, command = { 'sh', '-c', 'echo epoch "
      "$((MUSTER_ATTEMPT + 1)) acc=0.$MUSTER_ATTEMPT; exit $((1 - MUSTER_ATTEMPT))' } }",
      kMetrics);
  Out({"run", "-q", "recipe.lua"});
  EXPECT_EQ(Out({"export", "job", "--curves", "--csv"}),
            "role,index,report,param.x,metric.acc,metric.epoch\r\nworker,0,1,1,0,1\r\nworker,0,2,1,0.1,2\r\n");
  EXPECT_EQ(Out({"ls", "--columns", "acc"}), "ACC\n0.1\n");
}

TEST_F(RecipeMetrics, StandBesideReportsOfTheSameProcess) {
  sweep_.WriteRecipe(
      kParams,
      "job:workers { count = 1, command = { 'sh', '-c', [[echo epoch 1 acc=0.5; echo '{\"step\": 3, \"loss\": 2}' >> "
      "$MUSTER_METRICS]] } }",
      kMetrics);
  Out({"run", "-q", "recipe.lua"});
  EXPECT_EQ(Out({"ls", "--columns", "acc,loss"}), "ACC  LOSS\n0.5  2\n");
  EXPECT_EQ(Out({"export", "job", "--curves", "--csv"}),
            "role,index,report,param.x,metric.acc,metric.epoch,metric.loss,metric.step\r\n"
            "worker,0,1,1,,,2,3\r\nworker.log,0,1,1,0.5,1,,\r\n");
}

TEST_F(RecipeMetrics, AreThoseOfASweepOverTheRecipe) {
  const CommandResult swept =
      sweep_.Sweep({"--grid", "x=7,8,6", "--maximize", "acc", "--metric", "other=other=(\\d+)", "-q"});
  ASSERT_EQ(swept.exit_code, 0) << swept.err;
  EXPECT_EQ(Out({"ls", sweep_.sweep(), "--columns", "trial,value,epoch,other", "--sort", "-value", "-n", "1"}),
            "TRIAL  VALUE  EPOCH  OTHER\n1      0.8    2      8\n");
  EXPECT_EQ(sweep_.Wrong(3), "");
  // Its best trial as a run, with all that the sweep read.
  Out({"run", "-q", "job:best", "x=9"});
  EXPECT_EQ(Out({"ls", "--columns", "x,acc,other"}), "X  ACC  OTHER\n9  0.9  9\n");
  EXPECT_EQ(json::parse(Out({"report", "job:1", "--json"}))["metrics"][0]["last"],
            (json{{"epoch", 2}, {"acc", 0.8}, {"other", 8}}));
}

TEST_F(RecipeMetrics, StopTrialsOfASweepEarly) {
  const CommandResult swept =
      sweep_.Sweep({"--grid", "x=9,1,2", "--slots", "1", "--maximize", "acc", "--asha", "epoch:2..4/2", "-q"});
  ASSERT_EQ(swept.exit_code, 0) << swept.err;
  std::size_t reached = 0;
  for (const json& rung : sweep_.Records("rung_reached")) reached += rung["resource"] == 2 ? 1 : 0;
  EXPECT_EQ(reached, 3U) << "each trial reached epoch 2";
  EXPECT_EQ(sweep_.Wrong(3), "");
}

TEST_F(RecipeMetrics, OfTheSweepReplaceThoseOfTheRecipe) {
  sweep_.Write(
      "sweep.lua",
      "local muster = require 'muster'\nreturn muster.sweep { recipe = muster.load 'recipe.lua', space = { x = { 7, "
      "8 } }, objective = muster.maximize 'acc', metrics = { acc = [[other=(\\d+)]] } }\n");
  const CommandResult swept = sweep_.Muster({"sweep", "sweep.lua", "-q", "--no-progress"});
  ASSERT_EQ(swept.exit_code, 0) << swept.err;
  EXPECT_EQ(Out({"best", "job", "--json"}).find("\"value\": 8") == std::string::npos, false)
      << Out({"best", "job", "--json"});
}

}  // namespace
}  // namespace muster::testing
