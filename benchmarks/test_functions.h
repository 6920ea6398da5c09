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
};
const std::vector<TestFunction>& TestFunctions();

}  // namespace muster::benchmark
