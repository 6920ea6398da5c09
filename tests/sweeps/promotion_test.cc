// Tests that trials paused at rungs continue from their checkpoints, with real processes.
#include <fstream>
#include <string>

#include <gtest/gtest.h>

#include "sweeps/sweep_case.h"

namespace muster::testing {
namespace {

constexpr char kDigitsParams[] = "lr = muster.float { 0.5 }, epochs = muster.int { 64 }";
constexpr char kDigitsFields[] =
    "framework = 'mindspore-ps', mindspore = '1.6', checkpoint = { dir = 'checkpoints', latest = 'epoch_*.json' },";

// Parameter-server training in small steps, so that a trial is stopped long before its end.
std::string Digits(const std::string& resume = "job.resume and { '--resume', job.resume.checkpoint } or false") {
  const std::string program = std::filesystem::path(MusterProgram()).parent_path() / "ps_digits";
  return "local context = require 'muster.context'\n"
         "context.set_context { mode = context.GRAPH_MODE, device_target = 'CPU' }\n"
         "context.set_ps_context { enable_ps = true }\n"
         "local command = { '" +
         program + "', '--epochs', p.epochs, '--lr', p.lr, '--batch-size', 2, '--checkpoints', job.checkpoint.dir, " +
         resume +
         " }\n"
         "job:scheduler { command = command }\n"
         "job:servers { count = 1, devices = 0, command = command }\n"
         "job:workers { count = 1, devices = 0, command = command }";
}

const Words kPromoting = {
    "--grid",   "lr=0.1,0.00001,0.00002,0.00003", "--slots", "1", "--maximize", "accuracy", "--asha", "epoch:1..64/4",
    "--promote"};

// The first is the best of four after one pass, and is paused again after four.
TEST(PromotedTrial, ContinuesATrainingFromItsCheckpoint) {
  const SweepCase sweep(kDigitsParams, "");
  sweep.WriteRecipe(kDigitsParams, Digits(), kDigitsFields);
  const CommandResult swept = sweep.Sweep(kPromoting);
  ASSERT_EQ(swept.exit_code, 0) << swept.err;
  EXPECT_EQ(sweep.Wrong(4), "");
  ASSERT_EQ(sweep.Records("trial_promoted").size(), 1U) << swept.err;
  const json promoted = sweep.Of(0, "trial_promoted").at(0);
  EXPECT_EQ(promoted["results"], 4);
  EXPECT_EQ(promoted["rank"], 1);
  const json began = sweep.Of(0, "attempt_began").at(1);
  const std::string checkpoint = began["resumed"]["checkpoint"];
  const std::size_t number = checkpoint.rfind("epoch_") + 6;
  const int from = std::stoi(checkpoint.substr(number));
  EXPECT_EQ(checkpoint.substr(checkpoint.rfind("/checkpoints/")),
            "/checkpoints/epoch_" + std::to_string(from) + ".json");
  const json ended = sweep.Of(0, "attempt_ended").at(1);
  EXPECT_EQ(ended["class"], "stopped");
  EXPECT_TRUE(Says(ended["why"], "paused at rung 2 of 4: rank 1 of 1, the best 0 continue")) << ended;
  const std::string log = sweep.Muster({"logs", "job:0.2"}).out;
  EXPECT_FALSE(Says(log, "epoch " + std::to_string(from) + "/")) << "no pass is repeated: " << log;
  EXPECT_TRUE(Says(log, "epoch " + std::to_string(from + 1) + "/")) << log;
  // The same numbers as without a pause.
  const std::string epochs = ended["metrics"]["epoch"].dump();
  const CommandResult straight = sweep.Muster({"run", "recipe.lua", "lr=0.1", "epochs=" + epochs, "--quiet"});
  ASSERT_EQ(straight.exit_code, 0) << straight.err;
  const std::string run = sweep.Muster({"ls", "--columns", "dir", "-n", "1"}).out;
  const std::string dir = run.substr(run.find('/'), run.find_last_not_of('\n') + 1 - run.find('/'));
  std::ifstream metrics(dir + "/metrics/worker.0.0.jsonl");
  json last;
  for (std::string line; std::getline(metrics, line);) last = json::parse(line);
  EXPECT_EQ(last["loss"], ended["metrics"]["loss"]) << last;
  EXPECT_EQ(last["accuracy"], ended["metrics"]["accuracy"]);
  const json rungs = json::parse(sweep.Muster({"show", "job", "--json"}).out)["rungs"];
  ASSERT_EQ(rungs.size(), 2U) << rungs;
  EXPECT_EQ(rungs[0]["trials"], 4) << rungs;
  EXPECT_EQ(rungs[0]["stopped"], 3) << "one went on";
  EXPECT_EQ(rungs[1]["stopped"], 1) << rungs;
  const std::string shown = sweep.Muster({"show", "job:0"}).out;
  EXPECT_TRUE(Says(shown, "  promoted from rung 1: 1 of 4, the first 1 continue\n")) << shown;
  EXPECT_TRUE(Says(shown, ": paused\n")) << shown;
}

TEST(PromotedTrial, WarnsIfItsCheckpointIsMissing) {
  const SweepCase sweep(kDigitsParams, "");
  sweep.WriteRecipe(
      kDigitsParams,
      "job:workers { count = 1, command = { 'sh', '-c', 'e=1; while [ $e -le 64 ]; do echo \"{"
      "\\\\\"epoch\\\\\": $e, \\\\\"accuracy\\\\\": ' .. p.lr .. '}\" >> \"$MUSTER_METRICS\"; e=$((e + 1)); "
      "sleep 0.05; done', 'x', job.resume and { '--resume', job.resume.checkpoint } or false } }",
      "checkpoint = { dir = 'checkpoints', latest = 'epoch_*.json' },");
  const CommandResult swept = sweep.Sweep(kPromoting);
  ASSERT_EQ(swept.exit_code, 0) << swept.err;
  EXPECT_EQ(sweep.Wrong(4), "");
  const json began = sweep.Of(0, "attempt_began").at(1);
  const std::string warning = "it has passed 1 rung, and its checkpoint is missing: it starts from the beginning";
  EXPECT_EQ(began["warning"], warning);
  EXPECT_FALSE(began.contains("resumed"));
  EXPECT_TRUE(Says(swept.err, "warning: trial 0: " + warning)) << swept.err;
  const std::string shown = sweep.Muster({"show", "job:0"}).out;
  EXPECT_TRUE(Says(shown, "  warning    " + warning)) << shown;
  const json listed = json::parse(sweep.Muster({"ls", "job", "--where", "state = paused", "--json"}).out);
  EXPECT_GE(listed["trials"].size(), 3U) << listed;
}

TEST(PromotedTrial, NeedsARecipeThatContinuesFromCheckpoints) {
  const SweepCase sweep(kDigitsParams, "");
  const auto refusal = [&](const std::string& plan, const std::string& fields) {
    sweep.WriteRecipe(kDigitsParams, plan, fields);
    const CommandResult swept = sweep.Sweep(kPromoting);
    EXPECT_EQ(swept.exit_code, 2) << swept.err;
    EXPECT_FALSE(std::filesystem::exists(sweep.home())) << "nothing is created before it is checked";
    return swept.err;
  };
  std::string undeclared = Digits("false");
  undeclared.replace(undeclared.find("job.checkpoint.dir"), std::string("job.checkpoint.dir").size(), "'c'");
  const std::string without = refusal(undeclared, "framework = 'mindspore-ps', mindspore = '1.6',");
  EXPECT_TRUE(Says(without, "the recipe declares none\nhint: checkpoint = { dir = \"checkpoints\"")) << without;
  const std::string unused = refusal(Digits("false"), kDigitsFields);
  EXPECT_TRUE(Says(unused, "no process of this recipe is given one\nhint: job.resume and {")) << unused;
  const CommandResult rungless = sweep.Sweep({"--grid", "lr=0.1", "--maximize", "accuracy", "--promote"});
  EXPECT_EQ(rungless.exit_code, 2);
  EXPECT_TRUE(Says(rungless.err, "--promote: the sweep has no rungs")) << rungless.err;
}

}  // namespace
}  // namespace muster::testing
