// Tests the statistics of repeated results against published values.
#include "space/group_statistics.h"

#include <cmath>

#include <gtest/gtest.h>

namespace muster {
namespace {

TEST(GroupStatistics, AreMeanAndUnbiasedVariance) {
  const GroupStatistics group = StatisticsOf({1, 2, 4, 5});
  EXPECT_EQ(group.count, 4U);
  EXPECT_DOUBLE_EQ(group.mean, 3);
  EXPECT_DOUBLE_EQ(group.variance, 10.0 / 3);
  EXPECT_EQ(StatisticsOf({7}).variance, 0);
  EXPECT_EQ(StatisticsOf({}).count, 0U);
  EXPECT_EQ(MedianOf({5, 1, 3}), 3);
  EXPECT_EQ(MedianOf({5, 1, 3, 4}), 3.5);
}

// From tables of quantiles.
TEST(StudentAbove, HasTheQuantilesOfTheTables) {
  for (const auto& [freedom, t, above] :
       {std::tuple(1.0, 6.3137515, 0.05), std::tuple(1.0, 31.820516, 0.01), std::tuple(2.0, 2.9199856, 0.05),
        std::tuple(5.0, 2.5705818, 0.025), std::tuple(10.0, 1.8124611, 0.05), std::tuple(30.0, 2.7499957, 0.005),
        std::tuple(120.0, 1.6576509, 0.05)}) {
    EXPECT_NEAR(StudentAbove(t, freedom), above, 1e-7) << freedom;
    EXPECT_NEAR(StudentAbove(-t, freedom), 1 - above, 1e-7) << freedom;
  }
  EXPECT_DOUBLE_EQ(StudentAbove(0, 3), 0.5);
  EXPECT_NEAR(StudentAbove(1, 1), 0.25, 1e-14) << "of Cauchy's distribution: 1/2 - atan(1)/pi";
  EXPECT_GT(StudentAbove(1e6, 2), 0);
}

TEST(WelchTest, HasTheChanceOfItsFormula) {
  // t = -2 / sqrt(2/3 + 2/3), 4 degrees of freedom.
  const auto chance = WelchTest(StatisticsOf({1, 2, 3}), StatisticsOf({3, 4, 5}));
  ASSERT_TRUE(chance);
  EXPECT_NEAR(*chance, 2 * StudentAbove(2 / std::sqrt(2.0 / 3), 4), 1e-12);
  EXPECT_FALSE(WelchTest(StatisticsOf({1}), StatisticsOf({3, 4, 5}))) << "one result has no spread";
  EXPECT_EQ(WelchTest(StatisticsOf({1, 1}), StatisticsOf({2, 2})), 0.0);
  EXPECT_EQ(WelchTest(StatisticsOf({1, 1}), StatisticsOf({1, 1})), 1.0);
}

TEST(PooledTest, ComparesASingleResultByTheSpreadOfTheOthers) {
  const GroupStatistics best = StatisticsOf({1.0, 1.1, 0.9});
  const PooledVariance pooled = PooledOf({best, StatisticsOf({2.0, 2.1}), StatisticsOf({5})});
  EXPECT_EQ(pooled.freedom, 3);
  EXPECT_NEAR(pooled.variance, (2 * 0.01 + 0.005) / 3, 1e-15);
  EXPECT_LT(*PooledTest(StatisticsOf({5}), best, pooled), 0.001);
  EXPECT_GT(*PooledTest(StatisticsOf({1.05}), best, pooled), 0.2);
  EXPECT_GT(*PooledTest(StatisticsOf({0.5}), best, pooled), 0.95) << "it is better";
  EXPECT_FALSE(PooledTest(StatisticsOf({5}), best, PooledOf({StatisticsOf({1})}))) << "no spread is known";
}

}  // namespace
}  // namespace muster
