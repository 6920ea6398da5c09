// Values of axes that always fail, in a scheduler without processes (sweep/scheduler/trial_scheduler.h).
#include <algorithm>
#include <variant>

#include "sweep/record/failure_table.h"
#include "sweep/record/sweep_status.h"
#include "sweep/scheduled_sweep.h"

namespace muster {
namespace {

Space Axis(const std::string& name, std::vector<Value> values) {
  Space space{.kind = Space::Kind::kAxis, .axis = {.name = name}};
  space.axis.values = std::move(values);
  return space;
}

// lr × size, of which size turns fastest.
Space LrAndSize() {
  Space product{.kind = Space::Kind::kProduct};
  std::vector<Value> rates;
  for (int i = 1; i <= 10; ++i) rates.emplace_back(0.1 * i);
  product.parts = {Axis("lr", rates), Axis("size", {std::int64_t{1}, std::int64_t{2}, std::int64_t{4}})};
  return product;
}

// Trials with size 4 fail.
struct Skipping : ScheduledSweep {
  explicit Skipping(SweepDescription with = {}, SweepProgress progress = {}, const std::vector<SweepEntry>& known = {})
      : ScheduledSweep(0, std::move(with), {{"", 0, 1}}, std::move(progress), LrAndSize(), {}, known) {}

  std::vector<TrialNumber> Run(std::size_t most = 1000) {
    std::vector<TrialNumber> all;
    while (!scheduler->over() && all.size() < most) {
      Judge();
      const auto started = Start();
      if (started.empty()) break;
      for (const TrialNumber trial : started) {
        const bool fails = trial_points->At(trial).at("size") == Value(std::int64_t{4});
        End(trial, fails ? TrialClass::kOomDevice : TrialClass::kOk, {}, fails ? std::nullopt : std::optional(1.0));
        all.push_back(trial);
      }
    }
    return all;
  }
  const ValueSkipped* skipped() const {
    for (const SweepEntry& entry : entries) {
      if (const auto* one = std::get_if<ValueSkipped>(&entry)) return one;
    }
    return nullptr;
  }
  std::uint64_t failed() const { return scheduler->progress().failed(); }
};

TEST(SkippedValues, EndATrialOfNoFurtherPointsWithThem) {
  Skipping sweep;
  sweep.ResumeFrom();
  const auto run = sweep.Run();
  ASSERT_NE(sweep.skipped(), nullptr);
  EXPECT_EQ(SkipReason(*sweep.skipped()),
            "size=4 is skipped: 4 of 4 trials ended with oom_device; other values: 0 of 8");
  EXPECT_EQ(run.size(), 24U) << "20 with other values, and the four";
  EXPECT_TRUE(sweep.scheduler->complete());
  EXPECT_EQ(CountsOf(sweep.scheduler->progress(), false).skipped, 6U);
  EXPECT_EQ(CountsOf(sweep.scheduler->progress(), false).impossible, 0U);
  const auto at = std::find_if(sweep.entries.begin(), sweep.entries.end(),
                               [](const auto& entry) { return std::holds_alternative<ValueSkipped>(entry); });
  const auto later = std::count_if(at, sweep.entries.end(), [](const auto& entry) {
    const auto* ended = std::get_if<AttemptEnded>(&entry);
    return ended != nullptr && IsFailure(ended->trial_class);
  });
  EXPECT_EQ(later, 0) << "it was recorded before the next trial began";
}

TEST(SkippedValues, AreNoneIfTheFileSaysNever) {
  SweepDescription never;
  never.skip_after.failures = 0;
  Skipping sweep(never);
  sweep.ResumeFrom();
  EXPECT_EQ(sweep.Run().size(), 30U);
  EXPECT_EQ(sweep.skipped(), nullptr);
}

TEST(SkippedValues, AreTriedAgainIfAUserTakesThatBack) {
  Skipping sweep;
  sweep.ResumeFrom();
  sweep.Run();
  const auto refused = sweep.scheduler->Steer({.unskip = {"size=3"}});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error(), "\"size=3\" is not skipped; skipped: size=4");
  ASSERT_TRUE(sweep.scheduler->Steer({.unskip = {"size=4"}}));
  EXPECT_EQ(sweep.Run().size(), 6U) << "and they fail, and are not skipped a second time";
  EXPECT_TRUE(sweep.scheduler->complete());
  EXPECT_EQ(sweep.failed(), 10U);
  EXPECT_EQ(CountsOf(sweep.scheduler->progress(), false).skipped, 0U);
}

TEST(SkippedValues, StaySoAfterTheHeadDied) {
  Skipping whole;
  whole.ResumeFrom();
  whole.Run();
  Skipping first;
  first.ResumeFrom();
  const auto begun = first.Run(15);
  ASSERT_NE(first.skipped(), nullptr);
  Skipping second({}, ProgressOf(first.entries), first.entries);
  second.ResumeFrom();
  const auto rest = second.Run();
  EXPECT_EQ(begun.size() + rest.size(), 24U);
  EXPECT_EQ(second.skipped(), nullptr);
  EXPECT_EQ(second.scheduler->progress().impossible(), whole.scheduler->progress().impossible());
}

TEST(SkippedValues, AreFoundFromTheResultsOfEarlierHeads) {
  Skipping first;
  first.ResumeFrom();
  first.Run(11);
  ASSERT_EQ(first.skipped(), nullptr);
  ASSERT_EQ(first.failed(), 3U);
  Skipping second({}, ProgressOf(first.entries), first.entries);
  second.ResumeFrom();
  second.Run();
  ASSERT_NE(second.skipped(), nullptr);
  EXPECT_EQ(second.skipped()->other_over, 8U);
}

TEST(SkippedValues, AreTriedIfAUserChoosesThePoint) {
  Skipping sweep;
  sweep.ResumeFrom();
  sweep.Run(14);
  ASSERT_NE(sweep.skipped(), nullptr);
  const std::uint64_t before = sweep.failed();
  ASSERT_TRUE(sweep.scheduler->Steer({.points = {{{"lr", 7.5}, {"size", std::int64_t{4}}}}}));
  sweep.Run();
  EXPECT_EQ(sweep.failed(), before + 1);
}

TEST(SkippedValues, AreRefusedPointsOfASamplerThatLearns) {
  SweepDescription tpe;
  tpe.objective = Objective{"loss"};
  tpe.sampler.kind = SamplerChoice::Kind::kTpe;
  tpe.sampler.trials = 30;
  tpe.sampler.seed = 3;
  Skipping sweep(tpe);
  sweep.ResumeFrom();
  sweep.Run();
  ASSERT_NE(sweep.skipped(), nullptr);
  EXPECT_EQ(sweep.failed(), 4U);
  EXPECT_GT(CountsOf(sweep.scheduler->progress(), false).skipped, 0U);

  // A resumed one suggests the same.
  for (std::size_t cut = 0; cut < sweep.entries.size(); ++cut) {
    if (!std::holds_alternative<ValueSkipped>(sweep.entries[cut])) continue;
    const std::vector<SweepEntry> until(sweep.entries.begin(),
                                        sweep.entries.begin() + static_cast<std::ptrdiff_t>(cut) + 1);
    Skipping again(tpe, ProgressOf(until), until);
    again.ResumeFrom();
    again.Run();
    EXPECT_EQ(again.failed(), 4U);
    for (TrialNumber trial = 0; trial < 30; ++trial) {
      EXPECT_EQ(again.trial_points->At(trial), sweep.trial_points->At(trial)) << trial;
    }
  }
}

}  // namespace
}  // namespace muster
