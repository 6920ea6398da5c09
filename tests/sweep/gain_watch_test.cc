// When a sweep expects no further gain, in a scheduler without processes (sweep/scheduler/gain_watch.h).
#include <cmath>
#include <variant>

#include "sweep/edited_sweep.h"
#include "sweep/record/sweep_status.h"

namespace muster {
namespace {

Space Line(double high = 1) {
  Space axis{.kind = Space::Kind::kAxis, .axis = {.name = "x", .kind = Axis::Kind::kUniform}};
  axis.axis.high = high;
  return axis;
}

// 120 random trials of a parabola, with noise.
struct Noisy : ScheduledSweep {
  explicit Noisy(double noise, SweepDescription with = {}, SweepProgress progress = {},
                 const std::vector<SweepEntry>& known = {})
      : ScheduledSweep(0, Random(std::move(with)), {{"", 0, 1}}, std::move(progress), Line(), {}, known),
        deviation(noise) {
    ResumeFrom();
  }
  static SweepDescription Random(SweepDescription with) {
    with.objective = Objective{"loss"};
    with.sampler.kind = SamplerChoice::Kind::kRandom;
    with.sampler.trials = 120;
    return with;
  }
  std::size_t Run(std::size_t most = 1000) {
    std::size_t trials = 0;
    while (!scheduler->over() && trials < most && scheduler->no_gain().empty()) {
      Judge();
      const auto started = Start();
      if (started.empty()) break;
      for (const TrialNumber trial : started) {
        const double x = trial_points->At(trial).at("x").Number();
        const double noise = deviation * 3.4 * (Draw(5, trial, "noise") - 0.5);
        End(trial, TrialClass::kOk, {}, (x - 0.4) * (x - 0.4) + noise);
        ++trials;
      }
    }
    return trials;
  }
  std::vector<NoGainExpected> said() const {
    std::vector<NoGainExpected> all;
    for (const SweepEntry& entry : entries) {
      if (const auto* one = std::get_if<NoGainExpected>(&entry)) all.push_back(*one);
    }
    return all;
  }
  double deviation;
};

TEST(GainWatch, SaysOnceThatNoGainAboveTheNoiseIsExpected) {
  Noisy sweep(0.3);
  EXPECT_EQ(sweep.Run(), 120U) << "it does not end for that";
  ASSERT_EQ(sweep.said().size(), 1U);
  const NoGainExpected said = sweep.said().front();
  EXPECT_GE(said.results, 20U);
  EXPECT_LE(said.bound, said.noise);
  EXPECT_FALSE(said.repeated);
  EXPECT_NEAR(said.noise, 0.3, 0.15) << "bad losses are compressed, and their noise with them";
  EXPECT_EQ(sweep.scheduler->progress().no_gain(), said);
  EXPECT_EQ(NoGainText({40, 0.0012, 0.00313, false}),
            "no gain above the noise is expected: after 40 results the regret is at most 0.0012, the noise 0.00313");
}

TEST(GainWatch, EndsASweepThatAsksForIt) {
  SweepDescription ends;
  ends.stop_after.no_gain = true;
  Noisy sweep(0.3, ends);
  EXPECT_LT(sweep.Run(), 120U);
  EXPECT_EQ(sweep.scheduler->no_gain().substr(0, 36), "no gain above the noise is expected:");
}

TEST(GainWatch, EndsASweepWhoseHeadDiedBeforeItCould) {
  SweepDescription ends;
  ends.stop_after.no_gain = true;
  std::vector<SweepEntry> entries = {SweepBegan{"id", "name", 4, 1, 2, "b", "m", "r", false}, PointsJudged{0, 4, {}},
                                     AttemptBegan{0, 0, "p", {}, "plan", "run", {}}, NoGainExpected{40, 0.1, 0.2}};
  const auto resumed = [&] {
    ScheduledSweep sweep(4, ends, {{"", 0, 2}}, ProgressOf(entries), {}, {}, entries);
    sweep.ResumeFrom();
    return sweep.scheduler->no_gain();
  };
  EXPECT_EQ(resumed().substr(0, 36), "no gain above the noise is expected:");
  entries.emplace_back(SweepEnded{false, "no gain above the noise is expected", 0});
  EXPECT_EQ(resumed(), "") << "its user wants more";
}

TEST(GainWatch, SaysNothingWhereGainsAreGreaterThanTheNoise) {
  SweepDescription with;
  Noisy sweep(0.3, with);
  sweep.Run(19);
  EXPECT_TRUE(sweep.said().empty()) << "too few results";
  SweepDescription two;
  two.second_objective = Objective{"latency"};
  Noisy other(0.3, two);
  other.Run();
  EXPECT_TRUE(other.said().empty());
}

TEST(GainWatch, AsksAgainInTheSpaceOfAnEdit) {
  Noisy sweep(0.3);
  sweep.Run();
  ASSERT_EQ(sweep.said().size(), 1U);
  SamplerChoice longer = sweep.sweep.sampler;
  longer.trials = 240;
  Edit(sweep, longer, Line(2));
  EXPECT_FALSE(sweep.scheduler->progress().no_gain());
  EXPECT_EQ(ProgressOf(sweep.entries), sweep.scheduler->progress());
  sweep.Run();
  ASSERT_EQ(sweep.said().size(), 2U);
  EXPECT_GT(sweep.said().back().results, 120U) << "those of before are in the new space, too";
}

TEST(GainWatch, SaysTheSameAfterTheHeadDied) {
  Noisy whole(0.3);
  whole.Run();
  ASSERT_EQ(whole.said().size(), 1U);
  Noisy first(0.3);
  first.Run(18);
  Noisy second(0.3, {}, ProgressOf(first.entries), first.entries);
  second.Run();
  EXPECT_EQ(second.said(), whole.said());
  Noisy third(0.3, {}, ProgressOf(second.entries), second.entries);
  third.Run();
  EXPECT_TRUE(third.said().empty()) << "once";
}

}  // namespace
}  // namespace muster
