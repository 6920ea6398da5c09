// Test functions of samplers, as spaces with a loss: four standard ones (www.sfu.ca/~ssurjano) and three for mixed and
// conditional axes and noise. Pure.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "space/space.h"

namespace muster::benchmark {

struct TestFunction {
  std::string name;
  Space space;
  double (*loss)(const Point& point);
  double least;                                                        // the loss of the best point
  double (*noise)(std::uint64_t seed, std::uint64_t trial) = nullptr;  // added to the reported loss
  bool (*possible)(const Point& point) = nullptr;                      // what a recipe's checks would say
};
const std::vector<TestFunction>& TestFunctions();

// With points that are refused: half of Branin's square, and nine of ten layouts of a language model on 64 devices.
const std::vector<TestFunction>& RefusingFunctions();

}  // namespace muster::benchmark
