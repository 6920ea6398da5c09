// Groups of repeated results: their means and spread, and whether two of them differ.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace muster {

struct GroupStatistics {
  std::uint64_t count = 0;
  double mean = 0;
  double variance = 0;  // of a single result, unbiased; 0 of fewer than two
};
GroupStatistics StatisticsOf(const std::vector<double>& values);

// Of the middle two, if their number is even, the mean. `values`: at least one.
double MedianOf(std::vector<double> values);

// What the results of a group say together: their median, or their mean. `values`: at least one.
double ValueOfGroup(std::vector<double> values, bool median);

// The probability that Student's t with so many degrees of freedom (above 0) is greater than `t`.
double StudentAbove(double t, double freedom);

// The probability of a difference of the means as large as this one if there were none, by Welch's t-test, which does
// not assume equal variances (Welch, Biometrika 34, 1947); nothing if a group has fewer than two results.
std::optional<double> WelchTest(const GroupStatistics& one, const GroupStatistics& other);

// The variance of a single result, from all groups with at least two, which are assumed to have the same; and its
// degrees of freedom, 0 if there is no such group.
struct PooledVariance {
  double variance = 0;
  double freedom = 0;
};
PooledVariance PooledOf(const std::vector<GroupStatistics>& groups);

// The probability that the mean of `one` is so much greater than that of `other` if it were not, by a t-test with the
// pooled variance; nothing without degrees of freedom.
std::optional<double> PooledTest(const GroupStatistics& one, const GroupStatistics& other,
                                 const PooledVariance& pooled);

}  // namespace muster
