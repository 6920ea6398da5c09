// Random points, without repetition if the space is countable.
#include <memory>
#include <string>
#include <unordered_set>
#include <vector>

#include "space/sampler.h"

namespace muster {
namespace {

constexpr std::uint64_t kMaxDraws = std::uint64_t{1} << 48U;

// Random points of a countable space without repetition, each choice drawn with its weight: points are drawn one after
// the other, and those that were drawn before are left out.
class DistinctDraws {
 public:
  // The space is countable and must outlive this object.
  DistinctDraws(const CompiledSpace& space, std::uint64_t seed);

  // The n-th point, from 0: below the number of points of the space. The points of two parts of a union may be equal;
  // after the last distinct point the first one repeats.
  Point At(std::uint64_t number);

 private:
  struct Source {
    bool drawn = true;        // CompiledSpace::From of draw `index`, else the point …
    std::uint64_t index = 0;  // … at this place of the order of Shuffled()
  };
  Point PointOf(Source source) const;
  Source FindNext();

  const CompiledSpace* space_;
  std::uint64_t seed_;
  std::uint64_t size_;
  std::uint64_t draws_ = 0;     // so far
  std::uint64_t shuffled_ = 0;  // places of that order that were looked at
  std::vector<Source> sources_;
  std::unordered_set<std::string> known_;
};

// Then nearly everything that has weight was drawn: what is left is taken in the order of Shuffled().
constexpr int kMaxRepeats = 64;

DistinctDraws::DistinctDraws(const CompiledSpace& space, std::uint64_t seed)
    : space_(&space), seed_(seed), size_(space.discrete_size()) {}

Point DistinctDraws::PointOf(Source source) const {
  if (!source.drawn) return space_->At(Shuffled(source.index, size_, seed_));
  return space_->From([&](const std::string& dimension) { return Draw(seed_, source.index, dimension); });
}

DistinctDraws::Source DistinctDraws::FindNext() {
  for (int repeats = 0; repeats < kMaxRepeats; ++repeats) {
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

class RandomSampler final : public Sampler {
 public:
  RandomSampler(const CompiledSpace& space, const SamplerChoice& choice, std::uint64_t all, std::uint64_t most)
      : Sampler(space, choice, all, most) {
    // Where all points are drawn equally often anyway, a permutation needs no memory.
    if (choice.weighted && space.size() && !space.draws_evenly()) distinct_.emplace(space, choice.seed);
  }

  Point At(std::uint64_t trial) override {
    const std::uint64_t number = NumberOf(trial);
    const std::uint64_t seed = choice().seed;
    if (distinct_) return distinct_->At(number);
    if (const auto size = space().size()) return space().At(Shuffled(number, *size, seed));
    return space().From([&](const std::string& dimension) { return Draw(seed, number, dimension); });
  }

 private:
  std::optional<DistinctDraws> distinct_;
};

}  // namespace

Result<std::unique_ptr<Sampler>> MakeRandomSampler(const CompiledSpace& space, const SamplerChoice& choice) {
  const auto size = space.size();
  if (!size && !choice.trials) return RefuseSampler(choice, "missing number of trials", "trials = 128");
  // Sampling without replacement ends when all points are used.
  const std::uint64_t trials = choice.trials.value_or(size.value_or(0));
  return std::make_unique<RandomSampler>(space, choice, size ? std::min(*size, trials) : trials,
                                         size.value_or(kMaxDraws));
}

}  // namespace muster
