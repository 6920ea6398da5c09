#include <set>

#include <gtest/gtest.h>

#include "space/sampler.h"

namespace muster::testing {
namespace {

TEST(Draw, IsAFunctionOfSeedTrialAndAxis) {
  EXPECT_EQ(Draw(7, 3, "lr"), Draw(7, 3, "lr"));
  std::set<double> draws;
  for (std::uint64_t seed = 0; seed < 4; ++seed) {
    for (std::uint64_t trial = 0; trial < 100; ++trial) {
      for (const char* axis : {"lr", "batch", "a", "b"}) {
        const double u = Draw(seed, trial, axis);
        EXPECT_GE(u, 0);
        EXPECT_LT(u, 1);
        draws.insert(u);
      }
    }
  }
  EXPECT_EQ(draws.size(), 1600U);
}

// Sweeps started with one version continue with the next, so these numbers must not change.
TEST(Draw, IsStableAcrossReleases) {
  EXPECT_EQ(Draw(0, 0, ""), 0.49125314762135985);
  EXPECT_EQ(Draw(7, 0, "lr"), 0.8936724281547223);
  EXPECT_EQ(Draw(7, 1, "lr"), 0.8382104034271841);
}

TEST(Draw, IsUniform) {
  int tenth[10] = {};
  constexpr int kDraws = 20'000;
  for (std::uint64_t trial = 0; trial < kDraws; ++trial) ++tenth[static_cast<int>(Draw(1, trial, "lr") * 10)];
  // Tolerance: five standard deviations.
  for (const int count : tenth) EXPECT_NEAR(count, kDraws / 10, 5 * 42.5);
}

TEST(Shuffled, IsAPermutationOfAnySize) {
  for (const std::uint64_t size : {1ULL, 2ULL, 3ULL, 7ULL, 48ULL, 1000ULL, 4096ULL, 4097ULL}) {
    std::set<std::uint64_t> seen;
    bool moved = false;
    for (std::uint64_t i = 0; i < size; ++i) {
      const std::uint64_t to = Shuffled(i, size, 5);
      EXPECT_LT(to, size);
      moved = moved || to != i;
      seen.insert(to);
    }
    EXPECT_EQ(seen.size(), size);
    EXPECT_TRUE(moved || size <= 7) << size;
  }
  EXPECT_LT(Shuffled((1ULL << 53U) - 2, (1ULL << 53U) - 1, 9), (1ULL << 53U) - 1);
  EXPECT_NE(Shuffled(0, 1'000'000, 1), Shuffled(0, 1'000'000, 2));
}

}  // namespace
}  // namespace muster::testing
