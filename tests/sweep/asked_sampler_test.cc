// Tests that the trials of a sampler which learns from results are recorded, and the same after any interruption.
#include <algorithm>
#include <cstdlib>
#include <map>
#include <memory>
#include <numeric>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "sweep/scheduled_sweep.h"

namespace muster {
namespace {

// Tries 10 and 90 first, then, two at a time, points beside the best so far: trial n is no function of n.
class Climber final : public Sampler {
 public:
  Climber(const CompiledSpace& space, const SamplerChoice& choice) : Sampler(space, choice, 12, 12) {}

  std::vector<Point> Ask(std::uint64_t first, std::uint64_t count) override {
    std::vector<Point> points;
    for (std::uint64_t trial = first; trial < first + count; ++trial) {
      if (!known_.contains(trial)) break;
      points.push_back(known_.at(trial));
    }
    if (!points.empty() || ended_.size() < first) return points;  // it learns when all trials so far have ended
    const auto x = [](std::int64_t value) { return Point{{"x", Value(std::clamp<std::int64_t>(value, 0, 99))}}; };
    points = first == 0 ? std::vector<Point>{x(10), x(90)} : std::vector<Point>{x(best_ - step_), x(best_ + step_)};
    points.resize(std::min<std::size_t>(points.size(), count));
    Recall(first, points);
    return points;
  }
  Point At(std::uint64_t trial) override { return known_.at(trial); }
  bool is_sequence() const override { return false; }
  void Tell(std::uint64_t trial, const TrialResult& result) override {
    ended_.insert(trial);
    if (!result.loss || *result.loss >= least_) return;
    least_ = *result.loss;
    best_ = *known_.at(trial).at("x").AsInt();
    step_ = std::max<std::int64_t>(1, step_ / 2);
  }
  void Recall(std::uint64_t first, const std::vector<Point>& points) override {
    for (std::size_t i = 0; i < points.size(); ++i) known_[first + i] = points[i];
  }

 private:
  std::map<std::uint64_t, Point> known_;
  std::set<std::uint64_t> ended_;
  double least_ = 1e300;
  std::int64_t best_ = 0;
  std::int64_t step_ = 32;
};

// A sweep whose trials have the loss |x - 63|, continued after `before`.
class Climb : public ScheduledSweep {
 public:
  explicit Climb(std::vector<SweepEntry> before = {})
      : ScheduledSweep(100, {}, {{"", 0, 2}}, ProgressOf(before), {}, [&before](const CompiledSpace& compiled) {
          auto made = std::make_unique<Climber>(compiled, SamplerChoice());
          for (const SweepEntry& entry : before) Inform(*made, {}, entry);
          return made;
        }) {
    entries = std::move(before);
    ResumeFrom();
  }

  // Until so many entries are written, or the sweep is over.
  void RunUntil(std::size_t entries_written) {
    while (!scheduler->over() && entries.size() < entries_written) {
      Judge();
      const auto started = Start();
      ASSERT_FALSE(started.empty()) << "it does not go on";
      for (const TrialNumber trial : started) {
        if (entries.size() >= entries_written) return;
        const std::int64_t x = *sampler->At(trial).at("x").AsInt();
        End(trial, TrialClass::kOk, {}, static_cast<double>(std::abs(x - 63)));
      }
    }
  }
  // "x=0" of each trial as it began.
  std::vector<std::string> Tried() const {
    std::map<TrialNumber, std::string> tried;
    for (const SweepEntry& entry : entries) {
      if (const auto* began = std::get_if<AttemptBegan>(&entry)) tried[began->trial] = PointText(began->point);
    }
    std::vector<std::string> points;
    for (const auto& [trial, point] : tried) points.push_back(point);
    return points;
  }
};

constexpr std::size_t kNever = 1'000'000;

TEST(AskedSampler, LearnsFromResultsAndItsPointsAreRecorded) {
  Climb climb;
  climb.RunUntil(kNever);
  const std::vector<std::string> tried = climb.Tried();
  EXPECT_EQ(tried, (std::vector<std::string>{"x=10", "x=90", "x=82", "x=98", "x=78", "x=86", "x=76", "x=80", "x=75",
                                             "x=77", "x=74"}));
  std::vector<std::string> recorded;
  for (const SweepEntry& entry : climb.entries) {
    if (const auto* judged = std::get_if<PointsJudged>(&entry)) {
      for (const Point& point : judged->points) recorded.push_back(PointText(point));
    }
  }
  EXPECT_EQ(recorded.size(), 12U) << "that of a trial which is not started as well";
}

TEST(AskedSampler, TriesTheSamePointsAfterAnyInterruption) {
  Climb whole;
  whole.RunUntil(kNever);
  for (std::size_t cut = 1; cut < whole.entries.size(); ++cut) {
    Climb begun;
    begun.RunUntil(cut);
    std::vector<SweepEntry> written = begun.entries;
    written.resize(std::min(cut, written.size()));
    Climb continued(std::move(written));
    continued.RunUntil(kNever);
    EXPECT_EQ(continued.Tried(), whole.Tried()) << cut;
  }
}

// A sweep by TPE, two trials at a time.
class ByTpe : public ScheduledSweep {
 public:
  explicit ByTpe(std::vector<PoolHost> hosts = {{"", 0, 2}}) : ScheduledSweep(1000, Description(), std::move(hosts)) {
    ResumeFrom();
  }

 private:
  static SweepDescription Description() {
    SweepDescription description;
    description.sampler = {SamplerChoice::Kind::kTpe, 60, 1};
    return description;
  }
};

TEST(AskedSampler, IsAskedWhenTrialsCanStart) {
  ByTpe sweep;
  sweep.Judge();
  EXPECT_EQ(sweep.scheduler->progress().judged_to(), 2U) << "that fit";
  const auto started = sweep.Start();
  ASSERT_EQ(started.size(), 2U);
  sweep.Judge();
  EXPECT_EQ(sweep.scheduler->progress().judged_to(), 2U);
  sweep.End(started.front(), TrialClass::kOk, {}, 1.0);
  sweep.Judge();
  EXPECT_EQ(sweep.scheduler->progress().judged_to(), 3U);
}

TEST(AskedSampler, IsAskedForAsManyTrialsAsHaveDevices) {
  ByTpe sweep({{"", 8, 64}});
  sweep.Judge();
  const TrialNeeds four = {{4, 1}};
  const auto started = sweep.Start(four);
  ASSERT_EQ(started.size(), 2U);
  const std::uint64_t before = sweep.scheduler->progress().judged_to();
  for (const TrialNumber trial : started) sweep.End(trial, TrialClass::kOk, {}, 1.0);
  std::size_t waiting = before - 2;
  for (; waiting > 0; waiting -= std::min<std::size_t>(waiting, 2)) {
    for (const TrialNumber trial : sweep.Start(four)) sweep.End(trial, TrialClass::kOk, {}, 1.0);
  }
  sweep.Judge();
  EXPECT_EQ(sweep.scheduler->progress().judged_to(), before + 2) << "of four devices each";
}

TEST(AskedSampler, ThatLearnsTriesBetterPointsLater) {
  ByTpe sweep;
  std::vector<double> losses;
  while (!sweep.scheduler->over()) {
    sweep.Judge();
    const auto started = sweep.Start();
    ASSERT_FALSE(started.empty()) << "it does not go on";
    for (const TrialNumber trial : started) {
      losses.push_back(std::abs(sweep.sampler->At(trial).at("x").Number() - 630));
      sweep.End(trial, TrialClass::kOk, {}, losses.back());
    }
  }
  ASSERT_EQ(losses.size(), 60U);
  const double first = std::accumulate(losses.begin(), losses.begin() + 20, 0.0);
  EXPECT_LT(std::accumulate(losses.end() - 20, losses.end(), 0.0), first * 0.75);
}

}  // namespace
}  // namespace muster
