// Tests what the processes of a trial can read about their sweep, and trials without reports.
#include <string>

#include <gtest/gtest.h>

#include "sweeps/sweep_case.h"

namespace muster::testing {
namespace {

// Appends one report to $MUSTER_METRICS.
std::string Reports(const std::string& fields) {
  return "muster.shell 'echo \"{" + fields + "}\" >> \"$MUSTER_METRICS\"'";
}

TEST(Trial, CanReadItsSweepNumberAttemptAndPoint) {
  SweepCase sweep("x = muster.int { 1 }",
                  "job:workers { count = 1, env = { GROUP = 'group-' .. job.sweep.id, POINT = job.sweep.point }, "
                  "command = muster.shell "
                  "'echo $MUSTER_SWEEP_ID $MUSTER_TRIAL $MUSTER_TRIAL_ATTEMPT $MUSTER_POINT $GROUP $POINT' }");
  sweep.SetVariable("MUSTER_TRIAL=99");  // as of an enclosing sweep
  const CommandResult result = sweep.Sweep({"--grid", "x=7,8"});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const std::string id = sweep.Records("sweep_began").at(0)["sweep"];
  EXPECT_EQ(sweep.Muster({"logs", "job:1"}).out, id + " 1 1 {\"x\":8} group-" + id + " {\"x\":8}\n");
}

TEST(Trial, OutsideASweepHasEmptyValues) {
  const SweepCase sweep("x = muster.int { 1 }",
                        "job:workers { count = 1, env = { GROUP = job.sweep.id }, command = muster.shell 'echo "
                        "\"[$GROUP]\" ${MUSTER_TRIAL-none}' }");
  const CommandResult result = sweep.Muster({"run", "-q", "recipe.lua"});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(sweep.Muster({"logs"}).out, "[] none\n");
}

TEST(Trial, CanImportMusterContextUnderEveryFramework) {
  const SweepCase sweep("x = muster.int { 1 }",
                        "job:workers { count = 1, command = { 'python3', '-c', 'import muster_context; "
                        "muster_context.report(loss=0.5)' } }");
  for (const char* framework : {"torch", "jax", "none"}) {
    sweep.WriteRecipe("x = muster.int { 1 }",
                      "job:workers { count = 1, devices = 0, command = { 'python3', '-c', 'import muster_context; "
                      "muster_context.report(loss=0.5)' } }",
                      std::string("framework = '") + framework + "', cluster = { devices_per_host = 1 },");
    const CommandResult result = sweep.Muster({"run", "-q", "recipe.lua"});
    EXPECT_EQ(result.exit_code, 0) << framework << result.err;
    const json report = json::parse(sweep.Muster({"report", "--json"}).out);
    EXPECT_TRUE(Says(report["metrics"].dump(), "\"loss\":0.5")) << framework << report["metrics"];
  }
}

TEST(Trial, SharesTheCopyOfThePythonPackagesWithTheOthers) {
  const SweepCase sweep("x = muster.int { 1 }",
                        "job:workers { count = 1, command = { 'python3', '-B', '-c', 'import muster_context; "
                        "muster_context.report(loss=0.5); print(muster_context.__file__)' } }");
  const auto packages_in = [](const std::string& folder) {
    std::vector<std::string> found;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
      if (entry.path().filename() == "__init__.py" && entry.path().parent_path().filename() == "muster_context")
        found.push_back(entry.path().parent_path().parent_path());
    }
    return found;
  };
  ASSERT_EQ(sweep.Sweep({"--grid", "x=1..10", "--minimize", "loss"}).exit_code, 0);
  const std::vector<std::string> copies = packages_in(sweep.sweep());
  ASSERT_EQ(copies.size(), 1U) << "ten trials have one copy";
  EXPECT_EQ(std::filesystem::path(copies[0]).parent_path(), sweep.sweep() + "/python");
  for (std::uint64_t trial = 0; trial < 10; ++trial) {
    const std::string run_dir =
        json::parse(sweep.Muster({"show", "job:" + std::to_string(trial), "--json"}).out)["run_dir"];
    ASSERT_TRUE(std::filesystem::is_symlink(run_dir + "/python")) << run_dir;
    EXPECT_TRUE(std::filesystem::read_symlink(run_dir + "/python").is_relative());
    EXPECT_TRUE(std::filesystem::equivalent(run_dir + "/python", copies[0]));
    EXPECT_EQ(sweep.Muster({"logs", run_dir}).out, run_dir + "/python/muster_context/__init__.py\n");
  }
  // Those of a later head are the same; a copy of another version of muster stays for the trials that have it.
  std::filesystem::create_directory(sweep.sweep() + "/python/0000000000000000");
  ASSERT_EQ(sweep.Muster({"retry", "--trial", "3"}).exit_code, 0);
  EXPECT_EQ(packages_in(sweep.sweep()), copies);
  std::ofstream(copies[0] + "/muster_context/__init__.py").close();  // emptied, as after a power failure
  ASSERT_EQ(sweep.Muster({"retry", "--trial", "3"}).exit_code, 0);
  EXPECT_EQ(packages_in(sweep.sweep()), copies);
  EXPECT_EQ(sweep.Wrong(10), "");
  const CommandResult packed = sweep.Muster({"pack", "job:3", "-o", sweep / "packed.tar"});
  EXPECT_EQ(packed.exit_code, 0) << packed.err;
  EXPECT_EQ(packed.err.find("python"), std::string::npos) << packed.err;

  // A run that is not a trial keeps its own, also that of a trial's plan.
  ASSERT_EQ(sweep.Muster({"replay", "job:3", "-q"}).exit_code, 0);
  ASSERT_EQ(sweep.Muster({"run", "-q", "recipe.lua"}).exit_code, 0);
  EXPECT_EQ(packages_in(sweep.home() + "/runs").size(), 2U);
  for (const auto& entry : std::filesystem::recursive_directory_iterator(sweep.home() + "/runs")) {
    EXPECT_TRUE(entry.path().filename() != "python" || !entry.is_symlink()) << entry.path();
  }
}

TEST(Trial, IsARunWhoseCurvesAreExported) {
  const SweepCase sweep("x = muster.int { 1 }", "job:workers { count = 1, command = " +
                                                    Reports("\\\\\"step\\\\\": 3, \\\\\"loss\\\\\": 0.5") + " }");
  ASSERT_EQ(sweep.Sweep({"--grid", "x=7,8", "--minimize", "loss"}).exit_code, 0);
  EXPECT_EQ(sweep.Muster({"export", "job:1", "--curves", "--csv"}).out,
            "role,index,report,param.x,metric.loss,metric.step\r\nworker,0,1,8,0.5,3\r\n");
}

TEST(Trial, ThatNeverReportsTheObjectiveHasNoResult) {
  const SweepCase sweep("x = muster.int { 1 }",
                        "job:workers { count = 1, command = " + Reports("\\\\\"lss\\\\\": 0.5") + " }");
  const CommandResult result = sweep.Sweep({"--grid", "x=1,2", "--minimize", "loss"});
  EXPECT_EQ(result.exit_code, 4) << result.err;
  const json ended = sweep.Of(0, "attempt_ended").at(0);
  EXPECT_EQ(ended["class"], "no_result");
  EXPECT_EQ(ended["why"], "it never reported loss, the objective of the sweep; it reported lss: did you mean lss?");
  EXPECT_EQ(sweep.Of(0, "attempt_began").size(), 1U) << "another attempt would end the same way";
  EXPECT_EQ(sweep.Wrong(2), "");
}

TEST(Trial, ThatNeverReportsTheResourceOfEarlyStoppingHasNoResult) {
  const SweepCase sweep("x = muster.int { 1 }", "job:workers { count = 1, command = " +
                                                    Reports("\\\\\"loss\\\\\": 0.5, \\\\\"steps\\\\\": 3") + " }");
  sweep.Write("sweep.lua",
              "local muster = require 'muster'\nreturn muster.sweep { name = 'asha', recipe = muster.load "
              "'recipe.lua', space = { "
              "x = muster.choice { 1, 2 } "
              "}, objective = muster.minimize 'loss', early_stop = muster.asha { resource = 'step', min = 1, max = 4, "
              "eta = 2 } }");
  const CommandResult result = sweep.Muster({"sweep", "sweep.lua", "--no-progress"});
  EXPECT_EQ(result.exit_code, 4) << result.err;
  EXPECT_EQ(sweep.Of(0, "attempt_ended").at(0)["why"],
            "it never reported step, which early stopping goes by; it reported loss, steps: did you mean steps?");
}

TEST(Trial, OfAnInterruptedAttemptIsNeverShownAsOk) {
  const SweepCase sweep(
      "x = muster.int { 1 }",
      "job:workers { count = 1, command = { probe, 'file', here .. '/began', { 'await', here .. '/go' } } }");
  StartedProgram muster = sweep.StartSweep({"--grid", "x=1", "--slots", "1"});
  ASSERT_TRUE(AwaitFile(sweep / "began"));
  muster.Signal(SIGINT);
  EXPECT_EQ(muster.End(), 128 + SIGINT);
  const std::string shown = sweep.Muster({"show", "job:0"}).out;
  EXPECT_TRUE(Says(shown, "attempt 1: interrupted\n")) << shown;
  EXPECT_FALSE(Says(shown, ": ok")) << shown;
}

}  // namespace
}  // namespace muster::testing
