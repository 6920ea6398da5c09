// Tests trials that were interrupted or failed and resume from their checkpoints.
#include <string>

#include <gtest/gtest.h>

#include "sweeps/sweep_case.h"

namespace muster::testing {
namespace {

constexpr char kTrainingParams[] = "x = muster.int { 1 }, hold_at = muster.int { 0 }, die_at = muster.int { 0 }";
constexpr char kCheckpoint[] = "checkpoint = { dir = 'checkpoints', latest = 'step_*.txt', signal = 'USR1' },";

// A training of six steps with the rate 1 / x; only trial 1 (x = 2) is held or killed.
std::string Training(const std::string& resume = "job.resume and { '--from', job.resume.checkpoint } or false") {
  return "job:workers { count = 1, devices = 0, command = { 'python3', '-B', '" MUSTER_SOURCE_DIR
         "/tests/sweeps/programs/holding.py', '--dir', job.checkpoint.dir, '--steps', 6, '--rate', 1 / p.x, "
         "'--hold-at', p.x == 2 and p.hold_at or 0, '--held', here .. '/held', '--die-at', p.x == 2 and p.die_at or "
         "0, " +
         resume + " } }";
}

class ResumedTrial : public ::testing::Test {
 protected:
  explicit ResumedTrial(const std::string& fields = kCheckpoint, const std::string& plan = Training()) {
    sweep_.WriteRecipe(kTrainingParams, plan, fields);
  }

  // Trials x = 1 and 2 in sequence, with ASHA at steps 1, 2 and 4.
  static Words Asked(const Words& more) {
    Words words = {"--grid", "x=1,2", "--slots", "1", "--minimize", "loss", "--asha", "step:1..4/2"};
    words.insert(words.end(), more.begin(), more.end());
    return words;
  }
  // Starts the sweep and returns while trial 1 is held.
  StartedProgram Held(int step) const {
    StartedProgram muster = sweep_.StartSweep(Asked({"hold_at=" + std::to_string(step)}));
    EXPECT_TRUE(AwaitFile(sweep_ / "held")) << sweep_.Errors();
    return muster;
  }
  void GoOn() const {
    const CommandResult resumed = sweep_.Muster({"resume", "--no-progress"});
    EXPECT_EQ(resumed.exit_code, 0) << resumed.err;
    EXPECT_EQ(sweep_.Wrong(2), "");
  }
  std::string Log(const std::string& attempt) const { return sweep_.Muster({"logs", "job:" + attempt}).out; }
  // Returns the rungs of trial 1 as "attempt.rung", both from 0.
  Words Rungs() const {
    Words rungs;
    for (const json& rung : sweep_.Of(1, "rung_reached")) {
      rungs.push_back(rung["attempt"].dump() + "." + rung["decision"]["rung"].dump());
    }
    return rungs;
  }
  // Returns the checkpoint from which an attempt of trial 1 resumes, relative to the folder of the attempt that wrote
  // it.
  std::string From(std::size_t attempt) const {
    const json began = sweep_.Of(1, "attempt_began").at(attempt);
    if (!began.contains("resumed")) return "nothing";
    const std::string of = std::to_string(began["resumed"]["attempt"].get<int>());
    const std::string folder = "/" + began["id"].get<std::string>() + "." + of + "/";
    const std::string checkpoint = began["resumed"]["checkpoint"];
    const std::size_t at = checkpoint.find(folder);
    return at == std::string::npos ? "?" : of + ": " + checkpoint.substr(at + folder.size());
  }

  SweepCase sweep_{kTrainingParams, Training()};
};

TEST_F(ResumedTrial, ContinuesFromTheCheckpointRequestedByTheStop) {
  StartedProgram muster = Held(3);
  EXPECT_EQ(sweep_.Muster({"stop", "job", "--wait"}).exit_code, 0);
  EXPECT_EQ(muster.End(), 128 + SIGTERM) << sweep_.Errors();
  GoOn();
  EXPECT_EQ(From(0), "nothing");
  EXPECT_EQ(From(1), "0: checkpoints/step_3.txt");
  EXPECT_EQ(Log("1.2"), "from 3\nstep 4\nstep 5\nstep 6\n");
  EXPECT_EQ(Rungs(), (Words{"0.0", "0.1", "1.2"})) << "a rung is reached once";
  const json ended = sweep_.Of(1, "attempt_ended").back();
  EXPECT_EQ(ended["class"], "ok");
  EXPECT_NEAR(ended["loss"], 0.5 / 6, 1e-6);
  const std::string shown = sweep_.Muster({"show", "job:1"}).out;
  EXPECT_TRUE(Says(shown, "attempt 1: interrupted\n")) << shown;
  EXPECT_TRUE(Says(shown, "attempt 2: ok\n  from       checkpoints/step_3.txt of attempt 1\n")) << shown;
  const json reported = json::parse(sweep_.Muster({"show", "job:1", "--json"}).out);
  EXPECT_TRUE(reported["attempts"][0]["resumed"].is_null()) << reported;
  EXPECT_EQ(reported["attempts"][1]["resumed"]["attempt"], 1) << reported;
  EXPECT_EQ(reported["attempts"][0]["state"], "interrupted") << reported;
  // The run's report shows it like that of any resumed run.
  const json report = json::parse(sweep_.Muster({"report", "job:1", "--json"}).out);
  EXPECT_EQ(report["resumed"]["run"], sweep_.Of(1, "attempt_began")[0]["run"]) << report["resumed"];
  EXPECT_EQ(report["resumed"]["checkpoint"], sweep_.Of(1, "attempt_began")[1]["resumed"]["checkpoint"]);
}

TEST_F(ResumedTrial, ContinuesAfterItsHeadWasKilled) {
  StartedProgram muster = Held(4);
  muster.Signal(SIGKILL);
  EXPECT_EQ(muster.End(), 128 + SIGKILL);
  EXPECT_TRUE(sweep_.NothingLeft());
  GoOn();
  EXPECT_EQ(From(1), "0: checkpoints/step_4.txt");
  EXPECT_EQ(Log("1.2"), "from 4\nstep 5\nstep 6\n");
  EXPECT_EQ(sweep_.Of(1, "attempt_ended").front()["class"], "preempted");
  EXPECT_TRUE(sweep_.Of(1, "attempt_ended").front()["interrupted"]);
  EXPECT_GT(sweep_.Of(1, "attempt_ended").front()["ms"], 0) << "until its last report";
  EXPECT_EQ(sweep_.Of(1, "attempt_ended").back()["class"], "ok");
}

TEST_F(ResumedTrial, KeepsACheckpointOfAnEarlierAttempt) {
  StartedProgram first = Held(3);
  first.Signal(SIGKILL);
  EXPECT_EQ(first.End(), 128 + SIGKILL);
  EXPECT_TRUE(sweep_.NothingLeft());
  std::filesystem::remove(sweep_ / "held");
  // Held again at step 3, before it has written a checkpoint.
  StartedProgram second = sweep_.Start({"resume", "--no-progress"});
  ASSERT_TRUE(AwaitFile(sweep_ / "held")) << sweep_.Errors();
  second.Signal(SIGKILL);
  EXPECT_EQ(second.End(), 128 + SIGKILL);
  EXPECT_TRUE(sweep_.NothingLeft());
  EXPECT_EQ(From(1), "0: checkpoints/step_2.txt");
  std::filesystem::remove(sweep_ / "held");
  StartedProgram third = sweep_.Start({"resume", "--no-progress"});
  ASSERT_TRUE(AwaitFile(sweep_ / "held")) << sweep_.Errors();
  third.Signal(SIGINT);
  EXPECT_EQ(third.End(), 128 + SIGINT);
  EXPECT_EQ(From(2), "0: checkpoints/step_2.txt");
  GoOn();
  EXPECT_EQ(From(3), "2: checkpoints/step_3.txt");
  EXPECT_EQ(Log("1.4"), "from 3\nstep 4\nstep 5\nstep 6\n");
}

TEST_F(ResumedTrial, WithoutRemainingStepsKeepsItsResult) {
  StartedProgram muster = Held(6);
  muster.Signal(SIGINT);
  EXPECT_EQ(muster.End(), 128 + SIGINT);
  GoOn();
  EXPECT_EQ(Log("1.2"), "from 6\n");
  const json ended = sweep_.Of(1, "attempt_ended").back();
  EXPECT_EQ(ended["class"], "ok") << ended;
  EXPECT_NEAR(ended["loss"], 0.5 / 6, 1e-6) << ended;
  EXPECT_EQ(ended["metrics"]["step"], 6) << ended;
}

TEST_F(ResumedTrial, ContinuesAfterAFailureAndRestartsWhenTheUserRetriesIt) {
  const CommandResult swept = sweep_.Sweep(Asked({"die_at=5", "--retry", "1"}));
  EXPECT_EQ(swept.exit_code, 0) << swept.err;
  EXPECT_EQ(From(1), "0: checkpoints/step_4.txt");
  EXPECT_EQ(Log("1.2"), "from 4\nstep 5\nstep 6\n");
  // It fails again, since it starts from scratch, and then resumes from the checkpoints it wrote since.
  const CommandResult retried = sweep_.Muster({"retry", "--trial", "1", "--no-progress"});
  EXPECT_EQ(retried.exit_code, 0) << retried.err;
  EXPECT_EQ(From(2), "nothing");
  EXPECT_EQ(From(3), "2: checkpoints/step_4.txt");
  EXPECT_EQ(Rungs(), (Words{"0.0", "0.1", "0.2", "2.0", "2.1", "2.2"}));
  EXPECT_EQ(sweep_.Wrong(2), "");
}

TEST_F(ResumedTrial, KeepsItsTags) {
  StartedProgram muster = Held(3);
  EXPECT_EQ(sweep_.Muster({"tag", "job:1", "good", "owner=ann"}).exit_code, 0);
  muster.Signal(SIGINT);
  EXPECT_EQ(muster.End(), 128 + SIGINT);
  GoOn();
  for (const char* condition : {"tag == \"good\"", "good", "owner == ann"}) {
    const CommandResult listed = sweep_.Muster({"ls", "job", "--where", condition, "--columns", "trial,attempt,tags"});
    EXPECT_TRUE(Says(listed.out, "\n1      2        good,owner=ann\n")) << condition << listed.out << listed.err;
    EXPECT_FALSE(Says(listed.out, "\n0 ")) << listed.out;
  }
  EXPECT_TRUE(Says(sweep_.Muster({"ls", "job"}).out, "  TAGS")) << sweep_.Muster({"ls", "job"}).out;
  EXPECT_TRUE(Says(sweep_.Muster({"show", "job:1"}).out, "  tags       good,owner=ann\n"));
  EXPECT_EQ(sweep_.Muster({"ls", "job", "--where", "tag == bad"}).exit_code, 1);
  EXPECT_EQ(sweep_.Muster({"tag", "job:1", "good-"}).exit_code, 0);
  EXPECT_EQ(sweep_.Muster({"ls", "job", "--where", "tag == good"}).exit_code, 1);
}

class UnresumedTrial : public ResumedTrial {
 protected:
  using ResumedTrial::ResumedTrial;
  void BeginsFromNothing() const {
    StartedProgram muster = Held(3);
    muster.Signal(SIGINT);
    EXPECT_EQ(muster.End(), 128 + SIGINT);
    std::filesystem::remove(sweep_ / "held");
    // Held again at the same step.
    StartedProgram second = sweep_.Start({"resume", "--no-progress"});
    ASSERT_TRUE(AwaitFile(sweep_ / "held")) << sweep_.Errors();
    second.Signal(SIGINT);
    EXPECT_EQ(second.End(), 128 + SIGINT);
    EXPECT_EQ(From(1), "nothing");
    EXPECT_EQ(Log("1.2"), "from 0\nstep 1\nstep 2\nstep 3\n");
    EXPECT_EQ(Rungs(), (Words{"0.0", "0.1", "1.0", "1.1"}));
  }
};

struct TrialThatIsGivenNoCheckpoint : UnresumedTrial {
  TrialThatIsGivenNoCheckpoint() : UnresumedTrial(kCheckpoint, Training("false")) {}
};
TEST_F(TrialThatIsGivenNoCheckpoint, StartsFromScratch) { BeginsFromNothing(); }

struct TrialWithAFolderOutsideItsRun : UnresumedTrial {
  TrialWithAFolderOutsideItsRun()
      : UnresumedTrial("checkpoint = { dir = here .. '/all', latest = 'step_*.txt', signal = 'USR1' },") {}
};
TEST_F(TrialWithAFolderOutsideItsRun, StartsFromScratch) { BeginsFromNothing(); }

}  // namespace
}  // namespace muster::testing
