// Which axes of a space matter: shares of the variance of a loss over the whole space, by a forest of regression trees
// (Hutter, Hoos, Leyton-Brown: An Efficient Approach for Assessing Hyperparameter Importance, ICML 2014). Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "space/space.h"

namespace muster {

struct AxisImportance {
  std::string name;        // CompiledSpace::LabelOf: "lr", "a+b" of a zip
  double share = 0;        // of the variance, which the axis explains alone
  double deviation = 0;    // of the share, among the trees
  std::size_t trials = 0;  // that have the axis

  bool operator==(const AxisImportance&) const = default;
};
struct PairImportance {
  std::string one;
  std::string other;
  double share = 0;  // which both explain together, and neither of them alone

  bool operator==(const PairImportance&) const = default;
};

struct Importance {
  std::vector<AxisImportance> axes;   // the greatest first
  std::vector<PairImportance> pairs;  // likewise; those with at least a hundredth
  double rest = 0;                    // interactions of more than two, and smaller ones of two
  std::size_t trials = 0;             // that it was computed from
};

inline constexpr std::size_t kMinImportanceTrials = 10;

// `results`: points with losses. Losses count by their ranks, so that single bad ones do not hide the others. An axis
// that a point does not have is in the middle of its range. The same results and seed give the same shares. Nothing
// with fewer results than the minimum that are in the space, or if their losses are all equal.
std::optional<Importance> ImportanceOf(const CompiledSpace& space, const std::vector<std::pair<Point, double>>& results,
                                       std::uint64_t seed = 0);

}  // namespace muster
