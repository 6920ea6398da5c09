// Tests that the points of a sweep with a union stay the same when it is resumed, also if it began before unions had
// weights.
#include <string>

#include <gtest/gtest.h>

#include "support/file_content.h"
#include "sweeps/sweep_case.h"

namespace muster::testing {
namespace {

constexpr char kOptimizers[] =
    "optimizer = muster.string { 'sgd' }, momentum = muster.float { 0 }, beta2 = muster.float { 0 }";
constexpr char kReport[] = "job:workers { count = 1, command = { 'muster', 'report-metric', 'loss=1' } }";

class DrawsOfAUnion : public ::testing::Test {
 protected:
  DrawsOfAUnion() : sweep_(kOptimizers, kReport) { Describe(""); }

  void Describe(const std::string& weights) {
    sweep_.Write("sweep.lua",
                 "local muster = require 'muster'\nreturn muster.sweep { name = 'union', recipe = muster.load "
                 "'recipe.lua', objective = muster.minimize 'loss',\n"
                 "space = muster.union { { optimizer = 'sgd', momentum = muster.uniform(0, 0.99) }, "
                 "{ optimizer = 'adam', beta2 = { 0.9, 0.99, 0.999 } }" +
                     weights + " },\nsampler = muster.random { seed = 7, trials = 2 } }\n");
  }
  void Begin() {
    const CommandResult begun = sweep_.Muster({"sweep", "sweep.lua", "-q", "--no-progress"});
    ASSERT_EQ(begun.exit_code, 0) << begun.err;
  }
  // The points of trials 2 to 5, which `muster resume` adds.
  Words AddedPoints() {
    const CommandResult resumed = sweep_.Muster({"resume", "--add-trials", "4", "-q", "--no-progress"});
    EXPECT_EQ(resumed.exit_code, 0) << resumed.err;
    Words points;
    for (std::uint64_t trial = 2; trial < 6; ++trial) {
      const std::vector<json> began = sweep_.Of(trial, "attempt_began");
      points.push_back(began.empty() ? "" : began.front()["point"].dump());
    }
    return points;
  }

  SweepCase sweep_;
};

TEST_F(DrawsOfAUnion, HaveTheirWeightsInTheDescription) {
  Begin();
  const json description = json::parse(ContentOf(sweep_.sweep() + "/sweep.json"))["description"];
  EXPECT_EQ(description["space"]["weights"], json({1, 1}));
  EXPECT_EQ(description["branches"], "weighted");
  const Words added = AddedPoints();
  Words again;
  for (const json& record : sweep_.Records("attempt_began")) again.push_back(record["point"].dump());
  EXPECT_EQ(Words(again.begin() + 2, again.end()), added);
  // A fresh sweep of six has the same points.
  const CommandResult fresh =
      sweep_.Muster({"sweep", "sweep.lua", "--random", "6", "--slots", "1", "-q", "--no-progress"});
  ASSERT_EQ(fresh.exit_code, 0) << fresh.err;
  Words all;
  for (const json& record : sweep_.Records("attempt_began")) all.push_back(record["point"].dump());
  EXPECT_EQ(all, again);
}

TEST_F(DrawsOfAUnion, AreThoseOfTheBeginningIfItHadNoWeights) {
  Begin();
  const std::string path = sweep_.sweep() + "/sweep.json";
  json file = json::parse(ContentOf(path));
  file["description"].erase("branches");
  file["description"]["space"].erase("weights");
  std::filesystem::permissions(path, std::filesystem::perms::owner_all);
  std::ofstream(path) << file.dump();
  EXPECT_EQ(AddedPoints(),
            (Words{R"({"beta2":0.99,"optimizer":"adam"})", R"({"momentum":0.269775,"optimizer":"sgd"})",
                   R"({"momentum":0.920524,"optimizer":"sgd"})", R"({"beta2":0.9,"optimizer":"adam"})"}));
}

TEST_F(DrawsOfAUnion, CannotGetOtherWeightsLater) {
  Begin();
  Describe(", weights = { 3, 1 }");
  const CommandResult resumed = sweep_.Muster({"resume", "--accept", "--add-trials", "4"});
  EXPECT_EQ(resumed.exit_code, 2) << resumed.err;
  EXPECT_TRUE(Says(resumed.err, "the space or the sampler differs from when the sweep began")) << resumed.err;
}

}  // namespace
}  // namespace muster::testing
