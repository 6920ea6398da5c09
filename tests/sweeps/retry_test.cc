// Tests sweeps whose recipe changes meanwhile, and trials that fail and are retried.
#include <string>

#include <gtest/gtest.h>

#include "sweeps/sweep_case.h"

namespace muster::testing {
namespace {

TEST(Sweep, ContinuesWithAnotherRecipeOnlyIfAccepted) {
  SweepCase sweep("x = muster.int { 1 }, a = muster.string { 'n', from_env = 'SWEEP_A' }",
                  "job:workers { count = 1, command = { 'true', p.a } }");
  sweep.SetVariable("SWEEP_A=one");
  ASSERT_EQ(sweep.Sweep({"--grid", "x=1..4", "--max-trials", "2"}).exit_code, 0);
  const std::string before = ContentOf(sweep.journal());
  sweep.ForgetVariables();
  sweep.SetVariable("SWEEP_A=two");
  const CommandResult variable = sweep.Muster({"resume"});
  EXPECT_EQ(variable.exit_code, 2) << variable.err;
  EXPECT_TRUE(Says(variable.err, "the variable SWEEP_A has another value")) << variable.err;
  sweep.WriteRecipe("x = muster.int { 1 }, a = muster.string { 'n', from_env = 'SWEEP_A' }",
                    "job:workers { count = 1, command = { 'true', 'new' } }");
  const CommandResult recipe = sweep.Muster({"resume"});
  EXPECT_EQ(recipe.exit_code, 2) << recipe.err;
  EXPECT_TRUE(Says(recipe.err, "'true', 'new'")) << recipe.err;
  EXPECT_TRUE(Says(recipe.err, "muster resume --accept")) << recipe.err;
  EXPECT_EQ(ContentOf(sweep.journal()), before);
  const CommandResult accepted = sweep.Muster({"resume", "--accept"});
  EXPECT_EQ(accepted.exit_code, 0) << accepted.err;
  EXPECT_EQ(ContentOf(sweep.journal()).substr(0, before.size()), before);
  EXPECT_TRUE(sweep.Records("sweep_began").back()["accepted"]);
  EXPECT_EQ(sweep.Wrong(), "");
}

// A renamed parameter (`was`) is the same parameter: the sweep goes on under the name that it began with.
TEST(Sweep, ContinuesAfterASweptParameterWasRenamed) {
  const SweepCase sweep("rate = muster.int { 1 }",
                        "job:workers { count = 1, command = { 'test', p.rate, '-lt', '3' } }");
  ASSERT_NE(sweep.Sweep({"--grid", "rate=1..4"}).exit_code, 0) << "two trials fail";
  sweep.WriteRecipe("x = muster.int { 1, was = 'rate' }", "job:workers { count = 1, command = { 'true', p.x } }");
  const CommandResult accepted = sweep.Muster({"retry", "--accept"});
  EXPECT_EQ(accepted.exit_code, 0) << accepted.err;
  const auto begun = sweep.Records("attempt_began");
  ASSERT_EQ(begun.size(), 6U) << "only the failed ones again";
  for (const auto& record : begun) EXPECT_TRUE(record["point"].contains("rate")) << record.dump();
  EXPECT_EQ(sweep.Wrong(), "");
}

TEST(Sweep, RefusesAConditionThatFailsInsteadOfRejectingItsPoints) {
  const SweepCase sweep("x = muster.int { 1, was = 'rate' }", "job:workers { count = 1, command = { 'true' } }");
  const auto with = [&](const std::string& condition) {
    sweep.Write("sweep.lua",
                "local muster = require 'muster'\nreturn muster.sweep { name = 's', recipe = muster.load 'recipe.lua', "
                "space = { x = { 1, 2, 3 } }, where = function(p, d) return " +
                    condition + " end }\n");
    return sweep.Muster({"sweep", "sweep.lua", "--preview"});
  };
  const CommandResult unknown = with("p.nothing < 3");
  EXPECT_EQ(unknown.exit_code, 2) << unknown.out;
  EXPECT_TRUE(Says(unknown.err, "there is no parameter nothing")) << unknown.err;
  const CommandResult former = with("p.rate < 3");
  EXPECT_EQ(former.exit_code, 0) << former.err;
  EXPECT_TRUE(Says(former.out, "1 rejected")) << former.out;
  const CommandResult words =
      sweep.Muster({"sweep", "recipe.lua", "--grid", "rate=1..3", "--where", "rate < 3", "--preview"});
  EXPECT_EQ(words.exit_code, 0) << words.err;
}

// The first attempt fails, the second one runs when the head is killed, and the third one fails in the same way.
TEST(Sweep, JudgesFailuresOfATrialUnderTwoHeads) {
  const SweepCase sweep(kParams,
                        "job:workers { count = 1, command = { '/bin/sh', '-c', [[echo '{\"step\": 5}' >> "
                        "\"$MUSTER_METRICS\"; cd \"$0\"; mkdir first 2> nul && exit 3; mkdir second 2> nul || exit 3; "
                        "exec sleep 1000]], here } }");
  sweep.Write("sweep.lua",
              "local muster = require 'muster'\nreturn muster.sweep { name = 's', recipe = muster.load 'recipe.lua', "
              "space = { x = { 1 } }, retry = { max = 9, verdict = true } }\n");
  StartedProgram muster = sweep.Start({"sweep", "sweep.lua", "--no-progress"});
  ASSERT_TRUE(AwaitFile(sweep / "second")) << sweep.Errors();
  muster.Signal(SIGKILL);
  EXPECT_EQ(muster.End(), 128 + SIGKILL);
  ASSERT_TRUE(sweep.NothingLeft());
  const CommandResult resumed = sweep.Muster({"resume", "--no-progress"});
  EXPECT_EQ(resumed.exit_code, 4) << resumed.err;
  const auto ended = sweep.Records("attempt_ended");
  ASSERT_EQ(ended.size(), 3U) << resumed.err;
  EXPECT_TRUE(ended[0]["again"]);
  EXPECT_TRUE(ended[1]["interrupted"]);
  EXPECT_TRUE(Says(ended[2]["why"], "not retried: the same failure happened 2 times at step 5")) << ended[2];
  EXPECT_EQ(ended[0]["verdict"], "restart");
  EXPECT_EQ(ended[2]["verdict"], "stop");
  EXPECT_EQ(ended[2]["rule"], "same failure again");
  EXPECT_EQ(sweep.Wrong(1), "");

  // What other rules would have done looks at the same failures.
  const auto whatif = [&](std::vector<std::string> words) {
    words.insert(words.begin(), "whatif");
    words.emplace_back("--json");
    const CommandResult result = sweep.Muster(words);
    EXPECT_EQ(result.exit_code, 0) << result.err;
    return json::parse(result.out);
  };
  const json same = whatif({"s:0"});
  ASSERT_EQ(same["failures"].size(), 2U) << same;
  EXPECT_EQ(same["trial"], "s:0");
  EXPECT_EQ(same["differ"], 0);
  EXPECT_EQ(same["failures"][0]["attempt"], 1);
  EXPECT_EQ(same["failures"][0]["verdict"], "restart");
  EXPECT_EQ(same["failures"][1]["attempt"], 3);
  EXPECT_EQ(same["failures"][1]["verdict"], "stop");
  EXPECT_EQ(same["failures"][1]["was_rule"], "same failure again");
  sweep.Write("rules.json", R"([{"name": "once", "verdict": "stop", "because": "no second attempt"}])");
  const json once = whatif({"s:0", "--rules", "rules.json"});
  ASSERT_EQ(once["failures"].size(), 1U) << once;
  EXPECT_EQ(once["differ"], 1);
  EXPECT_EQ(once["prevented"], 1);
  const CommandResult text = sweep.Muster({"whatif", "s:0", "--rules", "rules.json"});
  EXPECT_TRUE(Says(text.out, "(it was: restart, none)")) << text.out;
  EXPECT_TRUE(Says(text.out, "the trial would not have been retried: without the 1 failed attempt that followed"))
      << text.out;
  const json attempt = whatif({"s:0.3"});
  EXPECT_EQ(attempt["failures"].size(), 1U) << "an attempt is a run by itself: " << attempt;
  EXPECT_FALSE(attempt.contains("trial"));
}

TEST(Sweep, IsComparedWithOneUnderTheFormerNameOfAParameter) {
  const SweepCase sweep("rate = muster.int { 1 }", "job:workers { count = 1, command = { 'true' } }");
  ASSERT_EQ(sweep.Sweep({"--grid", "rate=1..3"}).exit_code, 0);
  sweep.WriteRecipe("x = muster.int { 1, was = 'rate' }", "job:workers { count = 1, command = { 'true' } }");
  ASSERT_EQ(sweep.Sweep({"--grid", "x=2..4"}).exit_code, 0);
  const CommandResult compared = sweep.Muster({"ls", "job~1", "job"});
  EXPECT_TRUE(Says(compared.out, "points that all of them tried: 2")) << compared.out << compared.err;
}

TEST(Sweep, AcceptsARecipeWhoseAcceptanceWasInterrupted) {
  const SweepCase sweep("x = muster.int { 1 }", "job:workers { count = 1, command = { 'true' } }");
  ASSERT_EQ(sweep.Sweep({"--grid", "x=1..4", "--max-trials", "2"}).exit_code, 0);
  sweep.WriteRecipe("x = muster.int { 1 }", "job:workers { count = 1, command = { 'true', 'new' } }");
  std::filesystem::copy_file(sweep / "recipe.lua", sweep.sweep() + "/recipe/recipe.lua",
                             std::filesystem::copy_options::overwrite_existing);
  const CommandResult refused = sweep.Muster({"resume"});
  EXPECT_EQ(refused.exit_code, 2) << refused.err;
  EXPECT_TRUE(Says(refused.err, "muster resume --accept")) << refused.err;
  EXPECT_EQ(sweep.Records("sweep_began").size(), 1U);
  const CommandResult accepted = sweep.Muster({"resume", "--accept"});
  EXPECT_EQ(accepted.exit_code, 0) << accepted.err;
  EXPECT_TRUE(sweep.Records("sweep_began").back()["accepted"]);
  EXPECT_EQ(sweep.Wrong(), "");
}

TEST(Sweep, RefusesAnotherObjective) {
  const SweepCase sweep(
      "x = muster.int { 1 }",
      "job:workers { count = 1, command = muster.shell [[echo '{\"loss\": 1}' >> \"$MUSTER_METRICS\"]] }");
  const auto write = [&](const std::string& objective) {
    sweep.Write("sweep.lua",
                "local muster = require 'muster'\nreturn muster.sweep { name = 's', recipe = muster.load 'recipe.lua', "
                "space = { x = { 1, 2, 3 } }, objective = muster." +
                    objective + " }\n");
  };
  write("minimize 'loss'");
  ASSERT_EQ(sweep.Muster({"sweep", "sweep.lua", "--max-trials", "1"}).exit_code, 0);
  write("maximize 'loss'");
  const CommandResult refused = sweep.Muster({"resume", "--accept"});
  EXPECT_EQ(refused.exit_code, 2) << refused.err;
  EXPECT_TRUE(Says(refused.err, "objective is another one than when the sweep began")) << refused.err;
  EXPECT_EQ(sweep.Records("sweep_began").size(), 1U);
  write("minimize 'loss'");
  EXPECT_EQ(sweep.Muster({"resume"}).exit_code, 0);
}

TEST(Sweep, StartsItsProgramsInItsOriginalFolder) {
  SweepCase sweep("x = muster.int { 1 }",
                  "job:workers { count = 1, command = { '/bin/sh', '-c', 'pwd >> ' .. here .. '/folders' } }");
  ASSERT_EQ(sweep.Sweep({"--grid", "x=1,2"}).exit_code, 0);
  sweep.CallBy({"env", "-C", "/"});
  const CommandResult again = sweep.Muster({"retry", "--trial", "0"});
  EXPECT_EQ(again.exit_code, 0) << again.err;
  const std::string folder = std::filesystem::canonical(sweep.home()).parent_path().string() + "\n";
  EXPECT_EQ(ContentOf(sweep / "folders"), folder + folder + folder);
}

TEST(Sweep, PassesItsOriginalDescriptorLimitToPrograms) {
  SweepCase sweep("x = muster.int { 1 }",
                  "job:workers { count = 1, command = { '/bin/sh', '-c', 'ulimit -Sn > ' .. here .. '/limit' } }");
  sweep.CallBy({"/bin/sh", "-c", "ulimit -Sn 333; exec \"$@\"", "sh"});
  const CommandResult result = sweep.Sweep({"--grid", "x=1"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(ContentOf(sweep / "limit"), "333\n");
}

TEST(Sweep, RefusesToRetryUnfinishedTrials) {
  const SweepCase sweep("x = muster.int { 1 }", "job:workers { count = 1, command = { 'true' } }");
  ASSERT_EQ(sweep.Sweep({"--grid", "x=1..4", "--max-trials", "2"}).exit_code, 0);
  const std::string before = ContentOf(sweep.journal());
  for (const auto& [trial, why] : {std::pair{"3", "it is not over"}, std::pair{"9", "there is none"}}) {
    const CommandResult refused = sweep.Muster({"retry", "--trial", std::string("0,") + trial});
    EXPECT_EQ(refused.exit_code, 2) << refused.err;
    EXPECT_TRUE(Says(refused.err, std::string("--trial ") + trial + ": " + why)) << refused.err;
  }
  EXPECT_EQ(ContentOf(sweep.journal()), before);
  EXPECT_EQ(sweep.Muster({"retry", "--trial", "0"}).exit_code, 0);
  EXPECT_EQ(sweep.Of(0, "attempt_ended").size(), 2U);
}

TEST(Sweep, RetriesOnlyFailedTrials) {
  const SweepCase sweep(
      "x = muster.int { 1 }",
      "job:workers { count = 1, command = { '/bin/sh', '-c', 'case ' .. p.x .. ' in 2) test ! -e ' .. "
      "here .. '/bad || exit 7;; 3) test ! -e ' .. here .. '/bad || exit 2;; esac' } }");
  sweep.Write("bad", "");
  const CommandResult failed = sweep.Sweep({"--grid", "x=1..4", "--retry", "1"});
  EXPECT_EQ(failed.exit_code, 4) << failed.err;
  EXPECT_EQ(sweep.Wrong(4), "");
  // A crash counts as a failure and is retried; invalid input would fail again.
  EXPECT_EQ(sweep.Of(1, "attempt_ended").size(), 2U);
  EXPECT_EQ(sweep.Of(1, "attempt_ended").back()["class"], "crash");
  ASSERT_EQ(sweep.Of(2, "attempt_ended").size(), 1U);
  EXPECT_EQ(sweep.Of(2, "attempt_ended").back()["class"], "user_error");
  std::filesystem::remove(sweep / "bad");
  const CommandResult retried = sweep.Muster({"retry"});
  EXPECT_EQ(retried.exit_code, 0) << retried.err;
  EXPECT_EQ(sweep.Of(0, "attempt_began").size(), 1U);
  EXPECT_EQ(sweep.Of(1, "attempt_began").size(), 3U);
  EXPECT_EQ(sweep.Of(2, "attempt_began").size(), 2U);
  EXPECT_EQ(sweep.Of(3, "attempt_began").size(), 1U);
  EXPECT_EQ(sweep.Wrong(4), "");
}

}  // namespace
}  // namespace muster::testing
