#include "space/group_statistics.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <utility>

namespace muster {
namespace {

// The regularised incomplete beta function by its continued fraction (Abramowitz, Stegun 26.5.8), evaluated by Lentz's
// method; it converges quickly for x below (a + 1) / (a + b + 2).
double BetaFraction(double a, double b, double x) {
  constexpr double kTiny = 1e-300;
  constexpr double kExact = 1e-15;
  constexpr int kMostTerms = 500;
  const auto sound = [](double value) { return std::abs(value) < kTiny ? kTiny : value; };
  double c = 1;
  double d = 1 / sound(1 - (a + b) * x / (a + 1));
  double fraction = d;
  for (int m = 1; m <= kMostTerms; ++m) {
    for (const bool even : {true, false}) {
      const double term = even ? m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
                               : -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
      d = 1 / sound(1 + term * d);
      c = sound(1 + term / c);
      fraction *= c * d;
    }
    if (std::abs(c * d - 1) < kExact) break;
  }
  return fraction;
}

double IncompleteBeta(double a, double b, double x) {
  if (!(x > 0)) return 0;
  if (x >= 1) return 1;
  const double front =
      std::exp(std::lgamma(a + b) - std::lgamma(a) - std::lgamma(b) + a * std::log(x) + b * std::log1p(-x));
  if (x < (a + 1) / (a + b + 2)) return front * BetaFraction(a, b, x) / a;
  return 1 - front * BetaFraction(b, a, 1 - x) / b;
}

double Share(const GroupStatistics& group) { return group.variance / static_cast<double>(group.count); }

}  // namespace

GroupStatistics StatisticsOf(const std::vector<double>& values) {
  GroupStatistics group{values.size(), 0, 0};
  if (values.empty()) return group;
  const auto count = static_cast<double>(values.size());
  for (const double value : values) group.mean += value / count;
  if (values.size() < 2) return group;
  for (const double value : values) group.variance += (value - group.mean) * (value - group.mean) / (count - 1);
  return group;
}

double MedianOf(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  if (values.size() % 2 == 1) return *middle;
  return (*middle + *std::max_element(values.begin(), middle)) / 2;
}

double ValueOfGroup(std::vector<double> values, bool median) {
  return median ? MedianOf(std::move(values)) : StatisticsOf(values).mean;
}

double StudentAbove(double t, double freedom) {
  const double tail = 0.5 * IncompleteBeta(freedom / 2, 0.5, freedom / (freedom + t * t));
  return t > 0 ? tail : 1 - tail;
}

std::optional<double> WelchTest(const GroupStatistics& one, const GroupStatistics& other) {
  if (one.count < 2 || other.count < 2) return std::nullopt;
  const double variance = Share(one) + Share(other);
  if (!(variance > 0)) return one.mean == other.mean ? 1.0 : 0.0;
  const double freedom = variance * variance /
                         (Share(one) * Share(one) / static_cast<double>(one.count - 1) +
                          Share(other) * Share(other) / static_cast<double>(other.count - 1));
  return 2 * StudentAbove(std::abs(one.mean - other.mean) / std::sqrt(variance), freedom);
}

PooledVariance PooledOf(const std::vector<GroupStatistics>& groups) {
  PooledVariance pooled;
  for (const GroupStatistics& group : groups) {
    if (group.count < 2) continue;
    const auto freedom = static_cast<double>(group.count - 1);
    pooled.variance += group.variance * freedom;
    pooled.freedom += freedom;
  }
  if (pooled.freedom > 0) pooled.variance /= pooled.freedom;
  return pooled;
}

std::optional<double> PooledTest(const GroupStatistics& one, const GroupStatistics& other,
                                 const PooledVariance& pooled) {
  if (!(pooled.freedom > 0) || one.count == 0 || other.count == 0) return std::nullopt;
  const double above = one.mean - other.mean;
  const double variance = pooled.variance * (1 / static_cast<double>(one.count) + 1 / static_cast<double>(other.count));
  if (!(variance > 0)) return above > 0 ? 0.0 : 1.0;
  return StudentAbove(above / std::sqrt(variance), pooled.freedom);
}

}  // namespace muster
