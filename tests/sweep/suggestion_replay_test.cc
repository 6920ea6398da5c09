// Tests that the reasons for points are found again in the journal of a sweep.
#include "sweep/scheduler/suggestion_replay.h"

#include <algorithm>
#include <cmath>

#include <gtest/gtest.h>

#include "sweep/scheduled_sweep.h"

namespace muster {
namespace {

using Source = TrialSuggestion::Source;
using How = SuggestedPoint::How;

const Space kPlane = {
    .parts = {{.kind = Space::Kind::kAxis, .axis = {.name = "x", .kind = Axis::Kind::kUniform, .low = 0, .high = 1}},
              {.kind = Space::Kind::kAxis, .axis = {.name = "n", .values = {1, 2, 3}}}}};

double LossAt(const Point& point) { return std::abs(point.at("x").Number() - 0.3) + point.at("n").Number(); }

// A sweep of two trials at a time, whose trials end in another order than they began.
class RanSweep : public ScheduledSweep {
 public:
  explicit RanSweep(const SamplerChoice& choice, std::vector<Point> points = {})
      : ScheduledSweep(0, DescriptionOf(choice), {{"", 0, 2}}, {}, kPlane) {
    ResumeFrom();
    scheduler->Choose(std::move(points));
    std::vector<TrialNumber> running;
    while (!scheduler->over()) {
      Judge();
      for (const TrialNumber trial : Start()) running.push_back(trial);
      if (running.empty()) break;
      const std::size_t next = running.size() > 1 && running.back() % 3 == 0 ? running.size() - 1 : 0;
      const TrialNumber trial = running[next];
      running.erase(running.begin() + static_cast<std::ptrdiff_t>(next));
      End(trial, TrialClass::kOk, {}, LossAt(trial_points->At(trial)));
    }
  }

 private:
  static SweepDescription DescriptionOf(const SamplerChoice& choice) {
    SweepDescription sweep;
    sweep.objective = {.metric = "loss"};
    sweep.sampler = choice;
    return sweep;
  }
};

Result<TrialSuggestion> Why(const ScheduledSweep& run, TrialNumber trial) {
  return SuggestionOf(*run.space, run.sweep, run.entries, trial);
}

TEST(SuggestionReplay, FindsTheReasonsOfEveryTrialOfASamplerThatLearns) {
  for (const auto kind : {SamplerChoice::Kind::kTpe, SamplerChoice::Kind::kGp}) {
    const RanSweep run(SamplerChoice{.kind = kind, .trials = 30, .seed = 3});
    for (TrialNumber trial = 0; trial < 30; ++trial) {
      const auto found = Why(run, trial);
      ASSERT_TRUE(found) << trial;
      EXPECT_EQ(found->point, run.trial_points->At(trial));
      EXPECT_FALSE(found->instead) << trial;
      const How learned = kind == SamplerChoice::Kind::kTpe ? How::kDensities : How::kProcess;
      EXPECT_EQ(found->why.how, found->why.results < 10 ? How::kDrawn : learned) << trial;
      EXPECT_EQ(found->why.results + found->why.running, trial) << "all before it have ended or run";
    }
  }
}

TEST(SuggestionReplay, SaysWhatSpokeForAPoint) {
  const RanSweep tpe(SamplerChoice{.kind = SamplerChoice::Kind::kTpe, .trials = 40, .seed = 3});
  const SuggestedPoint densities = Why(tpe, 39)->why;
  EXPECT_GT(densities.ratio, 1);
  EXPECT_GT(densities.good, 0U);
  ASSERT_EQ(densities.axes.size(), 2U);
  EXPECT_EQ(densities.axes[0].name, "x");
  const RanSweep gp(SamplerChoice{.kind = SamplerChoice::Kind::kGp, .trials = 40, .seed = 3});
  const SuggestedPoint process = Why(gp, 39)->why;
  EXPECT_LE(process.low, process.expected);
  EXPECT_LE(process.expected, process.high);
  EXPECT_GE(process.improvement, 0);
  EXPECT_NEAR(process.best, 1, 0.1) << "the least loss there is";
  EXPECT_FALSE(process.allowed) << "nothing was refused";
  ASSERT_EQ(process.near.size(), 3U);
  EXPECT_GE(process.near[0].correlation, process.near[2].correlation);
  EXPECT_EQ(process.near[0].loss, LossAt(gp.trial_points->At(*process.near[0].trial)));
}

// The points were judged while a trial ended: the sampler did not know of that when it was asked.
TEST(SuggestionReplay, LooksAtWhatTheSamplerKnewWhenItWasAsked) {
  const RanSweep run(SamplerChoice{.kind = SamplerChoice::Kind::kTpe, .trials = 30, .seed = 3});
  int moved = 0;
  for (std::size_t i = 0; i < run.entries.size(); ++i) {
    const auto* judged = std::get_if<PointsJudged>(&run.entries[i]);
    if (judged == nullptr || judged->first < 12) continue;
    // The next end of a trial that ran at that time, recorded before the points.
    const auto ends = std::find_if(run.entries.begin() + static_cast<std::ptrdiff_t>(i), run.entries.end(),
                                   [&](const SweepEntry& entry) {
                                     const auto* ended = std::get_if<AttemptEnded>(&entry);
                                     return ended != nullptr && ended->trial < judged->first;
                                   });
    if (ends == run.entries.end()) continue;
    std::vector<SweepEntry> entries = run.entries;
    const auto end = entries.begin() + (ends - run.entries.begin());
    std::rotate(entries.begin() + static_cast<std::ptrdiff_t>(i), end, end + 1);
    const auto found = SuggestionOf(*run.space, run.sweep, entries, judged->first);
    ASSERT_TRUE(found);
    EXPECT_FALSE(found->instead) << judged->first;
    // A result that is not among the best changes no point of TPE: it may be counted already.
    EXPECT_LE(found->why.results - Why(run, judged->first)->why.results, 1U) << judged->first;
    ++moved;
  }
  EXPECT_GT(moved, 5);
}

TEST(SuggestionReplay, SaysSoIfTheSamplerSuggestsSomethingElseNow) {
  RanSweep run(SamplerChoice{.kind = SamplerChoice::Kind::kTpe, .trials = 20, .seed = 3});
  SweepDescription other = run.sweep;
  other.sampler.seed = 4;
  const auto found = SuggestionOf(*run.space, other, run.entries, 15);
  ASSERT_TRUE(found);
  ASSERT_TRUE(found->instead);
  EXPECT_NE(*found->instead, found->point);
}

TEST(SuggestionReplay, NamesSequencesAndChosenPoints) {
  const Point chosen = {{"x", 0.25}, {"n", 2}};
  const RanSweep run(SamplerChoice{.kind = SamplerChoice::Kind::kRandom, .trials = 6, .seed = 3}, {chosen});
  const auto first = Why(run, 0);
  EXPECT_EQ(first->source, Source::kChosen);
  EXPECT_EQ(first->point, chosen);
  const auto later = Why(run, 4);
  EXPECT_EQ(later->source, Source::kSampler);
  EXPECT_EQ(later->why.how, How::kSequence);
  EXPECT_EQ(later->number, 3U) << "the chosen one is none of its own";
  EXPECT_EQ(Why(run, 99).error().front().kind, "trial");
}

}  // namespace
}  // namespace muster
