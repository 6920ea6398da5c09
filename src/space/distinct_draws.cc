#include "space/distinct_draws.h"

#include "space/draw.h"

namespace muster {
namespace {

// Then nearly everything that has weight was drawn: what is left is taken in the order of Shuffled().
constexpr int kMostRepeats = 64;

}  // namespace

DistinctDraws::DistinctDraws(const CompiledSpace& space, std::uint64_t seed)
    : space_(&space), seed_(seed), size_(space.discrete_size()) {}

Point DistinctDraws::PointOf(Source source) const {
  if (!source.drawn) return space_->At(Shuffled(source.index, size_, seed_));
  return space_->From([&](const std::string& dimension) { return Draw(seed_, source.index, dimension); });
}

DistinctDraws::Source DistinctDraws::FindNext() {
  for (int repeats = 0; repeats < kMostRepeats; ++repeats) {
    const Source source{true, draws_++};
    if (known_.insert(PointText(PointOf(source))).second) return source;
  }
  while (shuffled_ < size_) {
    const Source source{false, shuffled_++};
    if (known_.insert(PointText(PointOf(source))).second) return source;
  }
  return {false, 0};
}

Point DistinctDraws::At(std::uint64_t number) {
  while (sources_.size() <= number) sources_.push_back(FindNext());
  return PointOf(sources_[number]);
}

}  // namespace muster
