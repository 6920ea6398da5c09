// Tests which notices follow from what happens in a sweep.
#include "sweep/head/sweep_notices.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "space/space.h"

namespace muster {
namespace {

using EventNames = std::vector<std::string>;

SweepBegan Beginning() {
  SweepBegan began;
  began.sweep_id = "5e11";
  began.name = "lr";
  began.trials = 8;
  return began;
}

struct SweepSeen {
  SweepSeen() {
    sweep.name = "lr";
    sweep.objective = Objective{"acc", true};
    Take(Beginning());
    PointsJudged judged;
    judged.count = 8;
    Take(judged);
    maker.emplace(sweep, progress, "/sweeps/lr");
  }

  void Take(const SweepEntry& entry) {
    if (maker) {
      for (Notice& notice : maker->Saw(entry, 60)) Add(std::move(notice));
    }
    progress.Take(entry);
    if (!maker) return;
    if (auto best = maker->NewBest(60)) Add(*std::move(best));
  }
  void Add(Notice notice) {
    events.emplace_back(FactsOf(notice.event).name);
    notices.push_back(std::move(notice));
  }
  void Begin(TrialNumber trial, std::uint32_t attempt = 0) {
    const Point point = {{"lr", static_cast<double>(trial)}};
    Take(AttemptBegan{trial, attempt, PointId(point), point, "plan", "run", {}});
  }
  void End(TrialNumber trial, TrialClass trial_class, std::optional<double> loss = {}, bool again = false,
           std::uint32_t attempt = 0) {
    AttemptEnded ended;
    ended.trial = trial;
    ended.attempt = attempt;
    ended.trial_class = trial_class;
    ended.loss = loss;
    ended.again = again;
    ended.why = IsFailure(trial_class) ? "worker.0 exited with code 1" : "";
    Take(ended);
  }

  SweepDescription sweep;
  SweepProgress progress;
  std::optional<SweepNoticeMaker> maker;
  EventNames events;
  std::vector<Notice> notices;
};

TEST(SweepNotices, ReportOfTheBeginning) {
  SweepSeen made;
  made.Take(Beginning());
  EXPECT_EQ(made.events, (EventNames{"started"}));
  EXPECT_EQ(made.notices.back().what, "started");
  made.Begin(0);
  made.Take(Beginning());
  EXPECT_EQ(made.notices.back().what, "goes on");
}

TEST(SweepNotices, ReportOfTheFirstReportOfAnyTrialOnce) {
  SweepSeen made;
  made.Begin(3);
  EXPECT_FALSE(made.maker->Reported(3, {}, 1));
  const auto first = made.maker->Reported(3, {{"acc", 0.5}, {"step", std::int64_t{1}}}, 1);
  ASSERT_TRUE(first);
  EXPECT_EQ(first->metrics_of, "trial 3");
  EXPECT_FALSE(made.maker->Reported(3, {{"acc", 0.6}}, 2));
}

TEST(SweepNotices, DoNotCallAResultOfAContinuedSweepTheFirst) {
  SweepSeen made;
  made.Begin(0);
  made.End(0, TrialClass::kOk, -0.5);
  SweepNoticeMaker later(made.sweep, made.progress, "/sweeps/lr");
  EXPECT_FALSE(later.Reported(1, {{"acc", 0.5}}, 1));
  EXPECT_FALSE(later.NewBest(1));  // the earlier head has told
}

TEST(SweepNotices, ReportOfEachBestResultWithItsValue) {
  SweepSeen made;
  for (const TrialNumber trial : {0, 1, 2}) made.Begin(trial);
  made.End(0, TrialClass::kOk, -0.5);
  made.End(1, TrialClass::kOk, -0.25);
  made.End(2, TrialClass::kOk, -0.75);
  EXPECT_EQ(made.events, (EventNames{"best", "best"}));
  ASSERT_TRUE(made.notices.back().trial);
  EXPECT_EQ(made.notices.back().trial->number, 2U);
  EXPECT_EQ(made.notices.back().trial->value, 0.75);
  EXPECT_EQ(made.notices.back().trial->parameters.at("lr"), Value(2.0));
  EXPECT_TRUE(made.notices.back().trial->dir.starts_with("/sweeps/lr/"));
  EXPECT_EQ(made.notices.back().what, "has a new best result after 1 min 0 s: acc 0.75 (trial 2: lr=2)");
}

TEST(SweepNotices, ReportOfATrialThatIsNotTriedAgain) {
  SweepSeen made;
  made.Begin(0);
  made.End(0, TrialClass::kCrash, {}, true);
  EXPECT_TRUE(made.events.empty());
  made.Begin(0, 1);
  made.End(0, TrialClass::kCrash, {}, false, 1);
  EXPECT_EQ(made.events, (EventNames{"trial_failed"}));
  const Notice& failed = made.notices.back();
  EXPECT_EQ(failed.why, "worker.0 exited with code 1");
  ASSERT_TRUE(failed.trial);
  EXPECT_EQ(failed.trial->number, 0U);
  EXPECT_EQ(failed.trial->attempt, 2U);
  EXPECT_EQ(failed.trial->trial_class, "crash");
}

TEST(SweepNotices, AreSilentAboutStoppedAndInterruptedTrials) {
  SweepSeen made;
  made.Begin(0);
  made.End(0, TrialClass::kStopped, -0.9);
  made.Begin(1);
  AttemptEnded interrupted;
  interrupted.trial = 1;
  interrupted.trial_class = TrialClass::kCrash;
  interrupted.interrupted = true;
  made.Take(interrupted);
  EXPECT_TRUE(made.events.empty());
}

TEST(SweepNotices, ReportOfTheEndByItsExitCode) {
  const auto events_of = [](int code, bool complete) {
    SweepSeen made;
    made.Begin(0);
    made.End(0, TrialClass::kOk, -0.5);
    made.events.clear();
    made.Take(SweepEnded{complete, "why", code});
    return made.events;
  };
  EXPECT_EQ(events_of(0, true), (EventNames{"ended"}));
  EXPECT_EQ(events_of(4, true), (EventNames{"failed", "ended"}));
  EXPECT_EQ(events_of(3, false), (EventNames{"failed", "ended"}));
  EXPECT_EQ(events_of(130, false), (EventNames{"ended"}));
}

TEST(SweepNotices, SayWhatHoldsAtTheEnd) {
  SweepSeen made;
  for (const TrialNumber trial : {0, 1}) made.Begin(trial);
  made.End(0, TrialClass::kOk, -0.5);
  made.End(1, TrialClass::kCrash);
  made.Take(SweepEnded{true, "all trials have ended", 4});
  Notice ended = made.notices.back();
  EXPECT_EQ(ended.outcome, "failed");
  EXPECT_EQ(ended.exit_code, 4);
  EXPECT_EQ(ended.what,
            "is complete after 1 min 0 s: all trials have ended; 2 of 8 trials over, 1 failed; best acc 0.5 (trial 0: "
            "lr=0)");
  AddState(made.sweep, made.progress, 0, "/sweeps/lr", ended);
  const auto read = nlohmann::json::parse(NoticeLine(ended));
  EXPECT_EQ(read["objective"], "acc");
  EXPECT_EQ(read["best"]["value"], 0.5);
  EXPECT_EQ(read["best"]["number"], 0);
  EXPECT_EQ(read["trials"], (nlohmann::json{{"total", 8}, {"over", 2}, {"failed", 1}, {"running", 0}}));
}

}  // namespace
}  // namespace muster
