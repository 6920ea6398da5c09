// The grid: every point of a countable space, in the space's order.
#include <algorithm>
#include <memory>
#include <string>

#include "space/sampler.h"

namespace muster {
namespace {

class GridSampler final : public Sampler {
 public:
  GridSampler(const CompiledSpace& space, const SamplerChoice& choice, std::uint64_t size)
      : Sampler(space, choice, std::min(size, choice.trials.value_or(size)), size) {}

  Point At(std::uint64_t trial) override { return space().At(NumberOf(trial)); }
};

}  // namespace

Result<std::unique_ptr<Sampler>> MakeGridSampler(const CompiledSpace& space, const SamplerChoice& choice) {
  if (const auto size = space.size()) return std::make_unique<GridSampler>(space, choice, *size);
  std::string names;
  for (const Axis& axis : space.continuous()) {
    names += (names.empty() ? "" : ", ") + axis.name + " in " + AxisText(axis);
  }
  return RefuseSampler(choice, "a grid needs discrete values, but there is " + names,
                       "--random 100 or --sobol 128 draws from it; range(low, high, step) has values");
}

}  // namespace muster
