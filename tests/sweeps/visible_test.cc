// Tests that the commands for runs show and control a running sweep and each of its trials.
#include <string>

#include <gtest/gtest.h>

#include "sweeps/sweep_case.h"

namespace muster::testing {
namespace {

// Trial 0 ends at once; every other trial N ends when its file "go.N" exists. Each reports x steps.
constexpr char kVisiblePlan[] =
    "job:workers { count = 1, stop = { grace = '1h' }, command = { 'sh', '-c', 'echo \"{\\\\\"step\\\\\": ' .. p.x .. "
    "', "
    "\\\\\"loss\\\\\": 0.' .. p.x .. '}\" >> $MUSTER_METRICS; exec \"$0\" \"$@\"', probe, 'print', 'hello ' .. p.x, "
    "'file', here .. '/began.' .. p.x, p.x > 1 and { 'await', here .. '/go.' .. p.x } } }";

class VisibleSweep : public ::testing::Test {
 protected:
  VisibleSweep() : sweep_(kParams, kVisiblePlan) {
    std::filesystem::create_directory(sweep_ / "runtime");
    sweep_.SetVariable("XDG_RUNTIME_DIR=" + sweep_ / "runtime");
  }
  // Trial 0 is finished, trials 1 and 2 are running, trial 3 is pending.
  void Start() {
    head_.emplace(sweep_.StartSweep({"--grid", "x=1..4", "--slots", "2", "--minimize", "loss", "-q"}));
    ASSERT_TRUE(AwaitFile(sweep_ / "began.2") && AwaitFile(sweep_ / "began.3")) << sweep_.Errors();
  }
  void End() {
    for (const char* trial : {"go.2", "go.3", "go.4"}) sweep_.Write(trial, "");
    EXPECT_EQ(head_->End(), 0) << sweep_.Errors();
    EXPECT_TRUE(sweep_.NothingLeft());
  }
  json Ps(Words words = {}) const {
    words.insert(words.begin(), {"ps", "--json"});
    const CommandResult ps = sweep_.Muster(words);
    EXPECT_EQ(ps.exit_code, 0) << ps.err;
    return json::parse(ps.out);
  }

  SweepCase sweep_;
  std::optional<StartedProgram> head_;
};

TEST_F(VisibleSweep, IsListedByPsWithItsRunningTrialsAndTheirNewestMetrics) {
  Start();
  const json listed = Ps();
  EXPECT_TRUE(listed["runs"].empty()) << listed;
  ASSERT_EQ(listed["sweeps"].size(), 1U) << listed;
  const json& sweep = listed["sweeps"][0];
  EXPECT_EQ(sweep["name"], "job");
  EXPECT_EQ(sweep["state"], "running");
  EXPECT_EQ(sweep["over"], 1);
  EXPECT_EQ(sweep["running"], 2);
  EXPECT_EQ(sweep["waiting"], 1);
  EXPECT_EQ(sweep["slots"], 2);
  EXPECT_EQ(sweep["best"]["trial"], 0);
  ASSERT_EQ(sweep["running_trials"].size(), 2U) << sweep;
  const json& trial = sweep["running_trials"][0];
  EXPECT_EQ(trial["name"], "job:1");
  EXPECT_EQ(trial["attempt"], 1);
  EXPECT_EQ(trial["metrics"]["worker"]["step"], 2) << trial;
  const CommandResult table = sweep_.Muster({"ps"});
  EXPECT_TRUE(Says(table.out, "1 of 4")) << table.out;
  EXPECT_TRUE(Says(table.out, "2 of 2")) << table.out;
  EXPECT_TRUE(Says(table.out, "loss 0.1 (trial 0)")) << table.out;
  EXPECT_TRUE(Says(table.out, "\njob:2 ")) << table.out;
  EXPECT_TRUE(Says(table.out, "step 3, loss 0.3 (x=3)")) << table.out;
  End();
  EXPECT_TRUE(Ps()["sweeps"].empty());
  EXPECT_EQ(Ps({"--all"})["sweeps"][0]["state"], "complete");
}

TEST_F(VisibleSweep, IsShownByTopReportAndLogs) {
  Start();
  const CommandResult top = sweep_.Muster({"top", "--json"});
  ASSERT_EQ(top.exit_code, 0) << top.err;
  const json shown = json::parse(top.out);
  EXPECT_EQ(shown["sweep"], sweep_.Records("sweep_began")[0]["sweep"]);
  EXPECT_EQ(shown["roles"][0]["ended"], 1);
  ASSERT_EQ(shown["processes"].size(), 2U) << shown;
  EXPECT_EQ(shown["processes"][1]["name"], "job:2");
  EXPECT_EQ(shown["processes"][1]["last_line"], "step 3, loss 0.3 (x=3)");
  const CommandResult trial = sweep_.Muster({"top", "job:2", "--json"});
  ASSERT_EQ(trial.exit_code, 0) << trial.err;
  EXPECT_EQ(json::parse(trial.out)["roles"][0]["metrics"]["step"], 3) << trial.out;

  const CommandResult report = sweep_.Muster({"report"});
  EXPECT_EQ(report.exit_code, 0) << report.err;
  EXPECT_TRUE(Says(report.out, "1 over, 0 impossible, 2 running, 1 to come")) << report.out;
  EXPECT_EQ(json::parse(sweep_.Muster({"report", "job", "--json"}).out)["running"], 2);

  const CommandResult logs = sweep_.Muster({"logs", "job"});
  EXPECT_EQ(logs.out, "job:1 worker.0 rank 0 | hello 2\njob:2 worker.0 rank 0 | hello 3\n") << logs.err;
  EXPECT_EQ(sweep_.Muster({"logs", "job:1"}).out, "hello 2\n");
  End();
  const CommandResult over = sweep_.Muster({"logs", "job", "--grep", "hello [14]"});
  EXPECT_EQ(over.out, "job:0 worker.0 rank 0 | hello 1\njob:3 worker.0 rank 0 | hello 4\n") << over.err;
  EXPECT_TRUE(Says(sweep_.Muster({"report", "job:1"}).out, "job succeeded")) << "a trial that is over";
  const CommandResult watched = sweep_.Muster({"watch", "job:1"});
  EXPECT_EQ(watched.exit_code, 0) << watched.err;
}

TEST_F(VisibleSweep, ATrialIsShownWithItsCurve) {
  Start();
  sweep_.SetVariable("LC_ALL=C");
  const CommandResult shown = sweep_.Muster({"show", "job:1"});
  EXPECT_EQ(shown.exit_code, 0) << shown.err;
  EXPECT_TRUE(Says(shown.out, "\n\nloss over step, worker.0\n0.2 +")) << shown.out;
  EXPECT_TRUE(Says(sweep_.Muster({"show", "job:1", "--curve", "step", "--log"}).out,
                   "\nstep over reports, worker.0, logarithmic\n2 +"));
  sweep_.SetVariable("LC_ALL=C.UTF-8");
  const CommandResult refused = sweep_.Muster({"show", "job:1", "--curve", "lose"});
  EXPECT_EQ(refused.exit_code, 2);
  EXPECT_TRUE(Says(refused.err, "the trial has not reported \"lose\"\nhint: did you mean \"loss\"?")) << refused.err;
  EXPECT_EQ(sweep_.Muster({"show", "job", "--log"}).exit_code, 2);
  EXPECT_EQ(sweep_.Muster({"show", "job:1", "--log", "--json"}).exit_code, 2);
  End();
}

// A trial has no control socket before it has run for a second.
TEST_F(VisibleSweep, OneOfItsTrialsCanBeStoppedAlone) {
  Start();
  const CommandResult stop = sweep_.Muster({"stop", "job:1", "--wait"});
  EXPECT_EQ(stop.exit_code, 0) << stop.err;
  EXPECT_TRUE(Says(stop.out, "has ended (stopped)")) << stop.out;
  ASSERT_TRUE(AwaitFile(sweep_ / "began.4")) << "its place is free";
  End();
  const json ended = sweep_.Of(1, "attempt_ended").at(0);
  EXPECT_EQ(ended["class"], "stopped");
  EXPECT_EQ(ended["why"], "another command stopped it");
  EXPECT_EQ(sweep_.Of(1, "attempt_began").size(), 1U) << "it is not tried again";
  EXPECT_EQ(sweep_.Wrong(4), "");
}

TEST_F(VisibleSweep, ADumpOfItCoversEachRunningTrial) {
  Start();
  const CommandResult dump = sweep_.Muster({"dump", "job"});
  EXPECT_EQ(dump.exit_code, 0) << dump.err;
  EXPECT_TRUE(dump.out.starts_with("job:1\n")) << dump.out;
  EXPECT_TRUE(Says(dump.out, "\njob:2\n")) << dump.out;
  const CommandResult both = sweep_.Muster({"dump", "job", "--json"});
  EXPECT_EQ(both.exit_code, 0) << both.err;
  const json dumps = json::parse(both.out)["trials"];
  ASSERT_EQ(dumps.size(), 2U) << both.out;
  EXPECT_EQ(dumps[1]["name"], "job:2");
  EXPECT_FALSE(dumps[1]["dump"]["groups"].empty()) << both.out;
  const CommandResult one = sweep_.Muster({"dump", "job:2", "--json"});
  EXPECT_EQ(one.exit_code, 0) << one.err;
  EXPECT_EQ(json::parse(one.out)["format"], 1);
  const CommandResult refused = sweep_.Muster({"stop", "job", "--dump"});
  EXPECT_EQ(refused.exit_code, 2);
  EXPECT_TRUE(Says(refused.err, "a sweep has no processes of its own")) << refused.err;
  End();
  EXPECT_EQ(sweep_.Muster({"dump", "job"}).exit_code, 2) << "no trial runs";
}

TEST_F(VisibleSweep, IsWatchedToItsEndAndExitCode) {
  Start();
  sweep_.Write("watched", "");
  StartedProgram watch({MusterProgram(), "watch", "job"}, {"PATH=/usr/bin:/bin", "MUSTER_HOME=" + sweep_.home()},
                       sweep_.home(), sweep_ / "watched");
  ASSERT_TRUE(AwaitLine(sweep_ / "watched", "muster: trial 0 ok in ")) << ContentOf(sweep_ / "watched");
  End();
  EXPECT_EQ(watch.End(), 0);
  const std::string reported = ContentOf(sweep_ / "watched");
  for (const char* line : {"muster: trial 3 ok in ", "job: all trials have ended\n", "4 of 4 trials over: 4 ok"}) {
    EXPECT_TRUE(Says(reported, line)) << reported;
  }
  const CommandResult lines = sweep_.Muster({"watch", "job", "--json"});
  EXPECT_EQ(lines.out, ContentOf(sweep_.journal()));
}

TEST_F(VisibleSweep, ItsLogsIncludeTrialsThatStartLater) {
  Start();
  const UniqueFd closed(::open((sweep_ / "followed").c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
  sweep_.Write("follow.sh", "exec \"$@\" > followed");
  SweepCase& sweep = sweep_;
  sweep.CallBy({"/bin/sh", sweep_ / "follow.sh"});
  StartedProgram follow = sweep.Start({"logs", "job", "-f"});
  sweep.CallBy({});
  ASSERT_TRUE(AwaitLine(sweep_ / "followed", "job:2 worker.0 rank 0 | hello 3")) << sweep_.Errors();
  sweep_.Write("go.2", "");
  ASSERT_TRUE(AwaitLine(sweep_ / "followed", "job:3 worker.0 rank 0 | hello 4")) << sweep_.Errors();
  End();
  EXPECT_EQ(follow.End(), 0) << sweep_.Errors();
}

TEST_F(VisibleSweep, ContinuesInTheBackgroundAndIsFoundFromAnyFolder) {
  const CommandResult begun = sweep_.Sweep({"--grid", "x=1..4", "--slots", "2", "--minimize", "loss", "--detach"});
  ASSERT_EQ(begun.exit_code, 0) << begun.err;
  const std::string id = sweep_.Records("sweep_began")[0]["sweep"];
  EXPECT_EQ(begun.out, id + " " + sweep_.sweep() + "\n");
  ASSERT_TRUE(AwaitFile(sweep_ / "began.2") && AwaitFile(sweep_ / "began.3"));
  const std::string home = sweep_.home();
  const std::string folder = sweep_.sweep();
  sweep_.SetHome(sweep_ / "elsewhere");
  EXPECT_TRUE(Ps()["sweeps"].empty());
  const json listed = Ps({"--all"});
  ASSERT_EQ(listed["sweeps"].size(), 1U) << listed;
  EXPECT_EQ(listed["sweeps"][0]["word"], folder) << "its name means nothing there";
  EXPECT_EQ(sweep_.Muster({"stop", folder + ":1", "--wait"}).exit_code, 0);
  const CommandResult stop = sweep_.Muster({"stop", folder, "--wait"});
  EXPECT_EQ(stop.exit_code, 0) << stop.err;
  EXPECT_TRUE(Ps({"--all"})["sweeps"].empty());
  EXPECT_TRUE(sweep_.NothingLeft());
  EXPECT_TRUE(std::filesystem::is_empty(sweep_ / "runtime/muster")) << "the entry goes with its head";
  EXPECT_TRUE(Says(ContentOf(folder + "/head.log"), "another command stopped it"));
  sweep_.SetHome(home);
  for (const char* trial : {"go.2", "go.3", "go.4"}) sweep_.Write(trial, "");
  EXPECT_EQ(sweep_.Muster({"resume"}).exit_code, 0);
  EXPECT_EQ(sweep_.Wrong(4), "");
}

TEST_F(VisibleSweep, IsResumedAndRetriedInTheBackground) {
  const CommandResult begun =
      sweep_.Sweep({"--grid", "x=1..3", "--slots", "1", "--detach", "--tag", "owner=ann", "--tag", "first"});
  ASSERT_EQ(begun.exit_code, 0) << begun.err;
  EXPECT_EQ(sweep_.Muster({"tag", "job"}).out, "first\nowner=ann\n");
  ASSERT_TRUE(AwaitFile(sweep_ / "began.2"));
  EXPECT_EQ(sweep_.Muster({"resume", "--detach"}).exit_code, 75) << "it is running";
  ASSERT_EQ(sweep_.Muster({"stop", sweep_.sweep(), "--wait"}).exit_code, 0);
  const auto count = [&](const char* event) { return sweep_.Records(event).size(); };
  EXPECT_EQ(count("sweep_ended"), 1U);

  std::filesystem::remove(sweep_ / "began.2");
  const CommandResult resumed = sweep_.Muster({"resume", "--detach"});
  ASSERT_EQ(resumed.exit_code, 0) << resumed.err;
  EXPECT_EQ(resumed.out, begun.out) << "id and folder";
  ASSERT_TRUE(AwaitFile(sweep_ / "began.2"));
  for (const char* trial : {"go.2", "go.3"}) sweep_.Write(trial, "");
  EXPECT_EQ(sweep_.Muster({"watch", sweep_.sweep()}).exit_code, 0);
  EXPECT_TRUE(sweep_.NothingLeft());
  EXPECT_EQ(sweep_.Wrong(3), "");
  EXPECT_EQ(sweep_.Of(0, "attempt_began").size(), 1U) << "it had ended";
  EXPECT_EQ(sweep_.Of(1, "attempt_began").size(), 2U);

  const CommandResult retried = sweep_.Muster({"retry", "--trial", "0", "--detach"});
  ASSERT_EQ(retried.exit_code, 0) << retried.err;
  EXPECT_EQ(retried.out, begun.out);
  EXPECT_EQ(sweep_.Muster({"watch", sweep_.sweep()}).exit_code, 0);
  EXPECT_TRUE(sweep_.NothingLeft());
  EXPECT_EQ(sweep_.Of(0, "attempt_began").size(), 2U);

  const CommandResult nothing = sweep_.Muster({"resume", "--detach"});
  EXPECT_EQ(nothing.exit_code, 0) << "all trials are over: " << nothing.err;
  EXPECT_EQ(nothing.out, begun.out);
  EXPECT_TRUE(sweep_.NothingLeft());
  sweep_.WriteRecipe(kParams, "job:workers { count = 1, command = { 'true' } }");
  const CommandResult changed = sweep_.Muster({"resume", "--detach"});
  EXPECT_EQ(changed.exit_code, 2);
  EXPECT_TRUE(Says(changed.err, "muster resume --accept")) << changed.err;
}

TEST_F(VisibleSweep, ReportsWhyItCannotStartInTheBackground) {
  sweep_.WriteRecipe(kParams, "job:workers { count = 1, command = { probe, 'exit', '0' } }");
  sweep_.Write("home", "");  // no folder can be created there
  const CommandResult begun = sweep_.Sweep({"--grid", "x=1..2", "--detach"});
  EXPECT_EQ(begun.exit_code, 3);
  EXPECT_EQ(begun.out, "");
  EXPECT_TRUE(Says(begun.err, sweep_.home())) << begun.err;
}

TEST_F(VisibleSweep, IsReportedWithTheCausesOfItsFailures) {
  sweep_.WriteRecipe(kParams, "job:workers { count = 1, command = { probe, 'exit', p.x > 2 and '7' or '0' } }");
  EXPECT_EQ(sweep_.Sweep({"--grid", "x=1..4", "-q"}).exit_code, 4);
  const CommandResult report = sweep_.Muster({"report", "job", "--json"});
  ASSERT_EQ(report.exit_code, 0) << report.err;
  const json causes = json::parse(report.out)["causes"];
  ASSERT_EQ(causes.size(), 1U) << report.out;
  EXPECT_EQ(causes[0]["class"], "crash");
  EXPECT_EQ(causes[0]["trials"], 2);
  EXPECT_EQ(causes[0]["first"], 2);
  EXPECT_TRUE(Says(causes[0]["why"], "7")) << causes;
  const CommandResult text = sweep_.Muster({"report", "job"});
  EXPECT_TRUE(Says(text.out, "\nfailed\n         2  crash: ")) << text.out;
  EXPECT_TRUE(Says(text.out, "(trial 2 and others)")) << text.out;
}

TEST_F(VisibleSweep, IsUnlistedAfterItsHeadWasKilled) {
  Start();
  ASSERT_EQ(Ps({"--all"})["sweeps"][0]["state"], "running");
  head_->Signal(SIGKILL);
  head_->End();
  EXPECT_FALSE(std::filesystem::is_empty(sweep_ / "runtime/muster"));
  EXPECT_TRUE(sweep_.NothingLeft());
  EXPECT_EQ(Ps({"--all"})["sweeps"][0]["state"], "lost") << "below its own home";
  EXPECT_TRUE(std::filesystem::is_empty(sweep_ / "runtime/muster"));
}

}  // namespace
}  // namespace muster::testing
