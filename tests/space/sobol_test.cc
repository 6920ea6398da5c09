#include <set>

#include <gtest/gtest.h>

#include "space/sampler.h"

namespace muster::testing {
namespace {

// Expected: the output of Joe and Kuo's program for three dimensions of new-joe-kuo-6.21201.
TEST(Sobol, MatchesThePublishedPointsWithoutASeed) {
  const std::vector<std::vector<double>> published = {{0, 0, 0},
                                                      {0.5, 0.5, 0.5},
                                                      {0.75, 0.25, 0.25},
                                                      {0.25, 0.75, 0.75},
                                                      {0.375, 0.375, 0.625},
                                                      {0.875, 0.875, 0.125},
                                                      {0.625, 0.125, 0.875},
                                                      {0.125, 0.625, 0.375},
                                                      {0.1875, 0.3125, 0.9375},
                                                      {0.6875, 0.8125, 0.4375}};
  SobolPoints points(3, std::nullopt);
  for (std::size_t i = 0; i < published.size(); ++i) EXPECT_EQ(points.At(i), published[i]) << i;
}

TEST(Sobol, JumpsToAnyPoint) {
  SobolPoints in_order(12, 7);
  std::vector<std::vector<double>> all;
  for (std::uint64_t i = 0; i < 200; ++i) all.push_back(in_order.At(i));
  SobolPoints jumping(12, 7);
  for (const std::uint64_t i : {199U, 0U, 57U, 58U, 3U, 128U}) EXPECT_EQ(jumping.At(i), all[i]) << i;
}

TEST(Sobol, StaysStratifiedWhenScrambledAndDiffersBetweenSeeds) {
  constexpr std::size_t kPoints = 64;
  std::set<std::vector<double>> firsts;
  for (const std::uint64_t seed : {1U, 2U, 3U}) {
    SobolPoints points(5, seed);
    std::vector<std::set<int>> strata(5);
    for (std::uint64_t i = 0; i < kPoints; ++i) {
      const std::vector<double> point = points.At(i);
      if (i == 0) firsts.insert(point);
      for (std::size_t d = 0; d < 5; ++d) {
        EXPECT_GE(point[d], 0);
        EXPECT_LT(point[d], 1);
        strata[d].insert(static_cast<int>(point[d] * kPoints));
      }
    }
    // Every slice of every dimension holds one point.
    for (const auto& slices : strata) EXPECT_EQ(slices.size(), kPoints);
  }
  EXPECT_EQ(firsts.size(), 3U);
}

}  // namespace
}  // namespace muster::testing
