// Whether a sweep is to be expected to find anything better than it has, by more than the noise of its results: the
// regret of the best result so far is bounded, and compared with the noise (Makarova et al.: Automatic Termination for
// Hyperparameter Optimization, AutoML 2022). Pure, and always the same for the same results.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "space/space.h"

namespace muster {

struct KnownLoss {
  Point point;
  double loss = 0;
  std::uint64_t repeats = 1;  // of how many repetitions it is the mean or median
};

struct RegretBound {
  std::uint64_t results = 0;
  double bound = 0;       // with high probability the best loss is at most so much greater than the least in the space
  double noise = 0;       // the standard deviation of the best result
  bool repeated = false;  // the noise is that of repetitions, else the one that the Gaussian process estimates

  bool none_left() const { return bound <= noise; }
};

inline constexpr std::size_t kMinRegretResults = 20;

// A Gaussian process is fitted to the losses. The bound is the least upper confidence bound at the results, less the
// least lower one in the space: of 512 points that are drawn from it with a fixed seed, 256 near the best results, and
// the results. The confidence is that of the paper (β of iteration t, δ = 0.1). Points that a recipe would refuse
// count, too, so the bound may be too great, not too small. `variance`: of a single result, if it is known from
// repetitions. As for the GP sampler, differences among the worse half of the losses are compressed, which lowers a
// noise that is estimated.
//
// Nothing with fewer results in the space than the minimum, more than kMaxGpResults or more than kMaxGpAxes axes, and
// if all losses are equal.
std::optional<RegretBound> RegretBoundOf(const CompiledSpace& space, const std::vector<KnownLoss>& results,
                                         std::optional<double> variance = {});

}  // namespace muster
