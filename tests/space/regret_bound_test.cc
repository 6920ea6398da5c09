#include "space/regret_bound.h"

#include <cmath>

#include <gtest/gtest.h>

#include "space/sampler.h"

namespace muster {
namespace {

CompiledSpace Square() {
  Space product{.kind = Space::Kind::kProduct};
  for (const char* name : {"x", "y"}) {
    Space axis{.kind = Space::Kind::kAxis, .axis = {.name = name}};
    axis.axis.kind = Axis::Kind::kUniform;
    axis.axis.low = 0;
    axis.axis.high = 1;
    product.parts.push_back(axis);
  }
  return *CompiledSpace::Of(product);
}

// A bowl with its least value 0 at (0.3, 0.6), and noise with this deviation; at drawn points.
std::vector<KnownLoss> Bowl(std::size_t results, double noise, std::uint64_t repeats = 1) {
  std::vector<KnownLoss> known;
  for (std::size_t i = 0; i < results; ++i) {
    const double x = Draw(7, i, "x");
    const double y = Draw(7, i, "y");
    double sum = 0;
    for (std::uint64_t k = 0; k < repeats; ++k) {
      const double one = Draw(8 + k, i, "noise");
      const double other = Draw(8 + k, i, "other");
      sum += std::sqrt(-2 * std::log1p(-one)) * std::cos(6.283185307 * other);
    }
    const double loss = (x - 0.3) * (x - 0.3) + (y - 0.6) * (y - 0.6) + noise * sum / static_cast<double>(repeats);
    known.push_back({{{"x", x}, {"y", y}}, loss, repeats});
  }
  return known;
}

TEST(RegretBound, IsAboveTheNoiseAsLongAsLittleIsKnown) {
  const CompiledSpace space = Square();
  EXPECT_FALSE(RegretBoundOf(space, Bowl(19, 0.01)));
  const auto early = RegretBoundOf(space, Bowl(20, 0.001));
  ASSERT_TRUE(early);
  EXPECT_FALSE(early->none_left()) << early->bound << " " << early->noise;
  EXPECT_EQ(early->results, 20U);
}

TEST(RegretBound, FallsBelowTheNoiseWhereItHidesWhatIsLeft) {
  const CompiledSpace space = Square();
  const auto noisy = RegretBoundOf(space, Bowl(200, 0.5), 0.25);
  ASSERT_TRUE(noisy);
  EXPECT_TRUE(noisy->none_left()) << noisy->bound << " " << noisy->noise;
  EXPECT_TRUE(noisy->repeated);
  EXPECT_DOUBLE_EQ(noisy->noise, 0.5) << "that of a single result";
  const auto estimated = RegretBoundOf(space, Bowl(200, 0.5));
  ASSERT_TRUE(estimated);
  EXPECT_NEAR(estimated->noise, 0.5, 0.2);
  const auto precise = RegretBoundOf(space, Bowl(200, 0.5), 1e-8);
  ASSERT_TRUE(precise);
  EXPECT_FALSE(precise->none_left()) << "of a smaller noise the same differences are gains";
}

TEST(RegretBound, DividesTheNoiseByRepetitions) {
  const auto bound = RegretBoundOf(Square(), Bowl(60, 0.1, 4), 0.01);
  ASSERT_TRUE(bound);
  EXPECT_DOUBLE_EQ(bound->noise, 0.05);
}

TEST(RegretBound, BoundsTheRegretThatThereIs) {
  const CompiledSpace space = Square();
  for (const std::size_t results : {20U, 40U, 80U}) {
    const auto known = Bowl(results, 0.0);
    double best = 1;
    for (const KnownLoss& one : known) best = std::min(best, one.loss);
    const auto bound = RegretBoundOf(space, known);
    ASSERT_TRUE(bound);
    EXPECT_GE(bound->bound, best) << results;
  }
}

TEST(RegretBound, IsTheSameForTheSameResults) {
  const auto one = RegretBoundOf(Square(), Bowl(40, 0.05));
  const auto other = RegretBoundOf(Square(), Bowl(40, 0.05));
  EXPECT_EQ(one->bound, other->bound);
  EXPECT_EQ(one->noise, other->noise);
}

TEST(RegretBound, NeedsDifferentLossesAndNotTooManyResults) {
  auto equal = Bowl(30, 0.0);
  for (KnownLoss& one : equal) one.loss = 1;
  EXPECT_FALSE(RegretBoundOf(Square(), equal));
  EXPECT_FALSE(RegretBoundOf(Square(), Bowl(501, 0.0)));
}

}  // namespace
}  // namespace muster
