// Tests the curves of running trials, read as their files grow.
#include <cmath>
#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>

#include "plan/sample_plan.h"
#include "plan/text/plan_json.h"
#include "support/temp_dir.h"
#include "sweep/watch/sweep_snapshot.h"

namespace muster::testing {
namespace {

class TrialCurvesTest : public ::testing::Test {
 protected:
  TrialCurvesTest() { std::filesystem::create_directories(folder_ / "metrics"); }
  std::string File(const std::string& name) const { return folder_ / "metrics/" + name + ".jsonl"; }
  void Report(const std::string& name, const std::string& lines) const {
    std::ofstream(File(name), std::ios::app) << lines;
  }
  const TrialCurve& Read() { return curves_.Read(folder_.path()); }

  TempDir folder_;
  TrialCurves curves_{"loss", ""};
};

TEST_F(TrialCurvesTest, GrowWithTheFile) {
  EXPECT_FALSE(Read().value);
  Report("worker.0.0", "{\"step\": 1, \"loss\": 4}\n{\"step\": 2, \"loss\": 3}\n{\"step\": 3, \"lo");
  EXPECT_EQ(Read().points, (std::vector<double>{4, 3}));
  EXPECT_EQ(Read().step, 2);
  Report("worker.0.0", "ss\": 2}\n{\"step\": 4}\n");
  EXPECT_EQ(Read().points, (std::vector<double>{4, 3, 2}));
  EXPECT_EQ(Read().value, 2);
  EXPECT_EQ(Read().step, 4);
}

TEST_F(TrialCurvesTest, AreReadFromTheLogIfNoRoleReportsTheObjective) {
  std::filesystem::create_directories(folder_ / "logs");
  const auto log = [&](int attempt, const std::string& text) {
    std::ofstream(folder_ / ("logs/worker.0." + std::to_string(attempt) + ".log"), std::ios::app) << text;
  };
  TrialCurves curves("loss", "", {{{{"loss", "loss: (\\S+)"}, {"step", "step (\\d+)"}}, "worker"}});
  log(0, "step 5 loss: 4\n");
  EXPECT_FALSE(curves.Read(folder_.path()).value) << "whose log it is, is not known without a plan";
  std::ofstream(folder_ / "plan.json") << PlanToJson(ParameterServerPlan());
  log(0, "step 6 lo");
  EXPECT_EQ(curves.Read(folder_.path()).points, (std::vector<double>{4}));
  log(0, "ss: 3\n");
  log(1, "loss: nan\n");
  const TrialCurve& read = curves.Read(folder_.path());
  EXPECT_EQ(read.step, 6);
  ASSERT_EQ(read.points.size(), 3U);
  EXPECT_EQ(read.points[1], 3);
  EXPECT_TRUE(std::isnan(read.points[2]));
  Report("worker.0.0", "{\"step\": 7, \"loss\": 1}\n");
  EXPECT_EQ(curves.Read(folder_.path()).points, (std::vector<double>{1}));
}

TEST_F(TrialCurvesTest, AreThoseOfTheFirstProcessOfTheFirstRoleWithTheObjective) {
  Report("chief.0.0", "{\"step\": 7}\n");
  EXPECT_EQ(Read().step, 7) << "no objective yet";
  Report("worker.1.0", "{\"step\": 1, \"loss\": 9}\n");
  Report("worker.2.0", "{\"step\": 1, \"loss\": 5}\n");
  EXPECT_EQ(Read().points, (std::vector<double>{9}));
  Report("worker.1.1", "{\"step\": 2, \"loss\": 8}\n");
  EXPECT_EQ(Read().points, (std::vector<double>{9, 8})) << "of all attempts";
}

TEST_F(TrialCurvesTest, KeepABoundedNumberOfPoints) {
  std::string lines;
  for (int i = 0; i < 100'000; ++i) lines += "{\"loss\": " + std::to_string(i) + "}\n";
  Report("worker.0.0", lines);
  const TrialCurve& curve = Read();
  EXPECT_LE(curve.points.size(), TrialCurve::kMaxPoints);
  EXPECT_GT(curve.points.size(), TrialCurve::kMaxPoints / 4);
  EXPECT_EQ(curve.value, 99'999);
  EXPECT_TRUE(std::is_sorted(curve.points.begin(), curve.points.end()));
  EXPECT_LT(curve.points.front(), 1000);
  EXPECT_GT(curve.points.back(), 99'000);
}

TEST_F(TrialCurvesTest, SurviveValuesThatAreNotFiniteAndLinesThatAreNoReports) {
  Report("worker.0.0", "{\"loss\": 1}\nno JSON\n{\"loss\": null}\n{\"loss\": \"low\"}\n");
  EXPECT_EQ(Read().points.size(), 2U);
  EXPECT_TRUE(std::isnan(*Read().value));
  EXPECT_TRUE(std::isnan(Read().points[1]));
  Report("worker.0.0", std::string(3 << 20, 'x'));  // a line that never ends
  Read();
  Report("worker.0.0", "\n{\"loss\": 5}\n");
  EXPECT_EQ(Read().value, 5);
}

TEST_F(TrialCurvesTest, FollowNoLink) {
  std::ofstream(folder_ / "elsewhere") << "{\"loss\": 1}\n";
  std::filesystem::create_symlink(folder_ / "elsewhere", File("worker.0.0"));
  EXPECT_FALSE(Read().value);
}

TEST_F(TrialCurvesTest, AreDroppedWithTheirTrial) {
  Report("worker.0.0", "{\"loss\": 1}\n");
  EXPECT_EQ(Read().points.size(), 1U);
  curves_.Keep({});
  EXPECT_EQ(Read().points.size(), 1U) << "read anew, not twice";
}

}  // namespace
}  // namespace muster::testing
