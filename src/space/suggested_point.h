// Why a sampler gives a trial its point: what it knew at that time, and what spoke for the point. Plain data.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "space/space.h"

namespace muster {

struct SuggestedPoint {
  enum class How : std::uint8_t {
    kSequence,   // by the number of the trial
    kDrawn,      // at random: there are too few results to learn from
    kDensities,  // TPE
    kProcess,    // a Gaussian process
    kRepeated,   // a further seed of a point that has results
  };
  How how = How::kSequence;
  Point point = {};

  // Of the trials so far; not of kSequence.
  std::uint64_t results = 0;  // with a loss
  std::uint64_t infeasible = 0;
  std::uint64_t failed = 0;
  std::uint64_t running = 0;
  std::uint64_t impossible = 0;

  struct AxisShare {
    std::string name;
    // kDensities: how many times as dense as among the others the good results are at this value of the axis, whatever
    // the other axes. kProcess: the length over which losses stay similar, in ranges of the axis.
    double number = 0;
  };
  std::vector<AxisShare> axes = {};  // that the point has

  // kDensities
  std::uint64_t good = 0;    // results that count as good
  std::uint64_t others = 0;  // other trials that it is compared with
  double ratio = 0;          // as AxisShare::number, of the point as a whole

  // kProcess: losses
  double expected = 0;
  double low = 0;  // one standard deviation around it
  double high = 0;
  double best = 0;  // the least that is expected at a point with a result
  // Expected: how far below that, at least 0. Of two losses: by how much the area grows that the results dominate, on
  // the scale of the model, on which the losses have a mean of 0 and a deviation of 1.
  double improvement = 0;
  struct SecondLoss {
    double expected = 0;
    double low = 0;  // one standard deviation around it
    double high = 0;
  };
  std::optional<SecondLoss> second = {};  // of two losses
  std::optional<double> allowed = {};     // the probability that the recipe accepts the point, if it has refused any
  struct Near {
    std::optional<std::uint64_t> trial = {};  // nothing: a result of another sweep
    double loss = 0;
    double correlation = 0;  // with the loss at the point
  };
  std::vector<Near> near = {};  // the results that say the most about the point, at most three
};

}  // namespace muster
