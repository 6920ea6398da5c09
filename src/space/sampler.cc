#include "space/sampler.h"

#include <algorithm>
#include <map>
#include <utility>

#include "space/draw.h"

namespace muster {
namespace {

constexpr std::uint64_t kMostSobolPoints = std::uint64_t{1} << 32U;
constexpr std::uint64_t kMostDraws = std::uint64_t{1} << 48U;

std::uint64_t ShardOf(const SamplerChoice& choice, std::uint64_t all) {
  return all / choice.shards + (choice.shard < all % choice.shards ? 1 : 0);
}

std::string NamesOf(const std::vector<Axis>& axes) {
  std::string names;
  for (const Axis& axis : axes) names += (names.empty() ? "" : ", ") + axis.name + " in " + AxisText(axis);
  return names;
}

}  // namespace

Sampler::Sampler(const CompiledSpace& space, const SamplerChoice& choice, std::uint64_t all, std::uint64_t most)
    : space_(&space), choice_(choice), size_(ShardOf(choice, all)), limit_(ShardOf(choice, std::max(all, most))) {
  if (choice.kind == SamplerChoice::Kind::kSobol && !space.dimensions().empty()) {
    sobol_.emplace(space.dimensions().size(), choice.scramble ? std::optional(choice.seed) : std::nullopt);
  }
  // Where all points are drawn equally often anyway, a permutation needs no memory.
  if (choice.kind == SamplerChoice::Kind::kRandom && choice.weighted && space.size() && !space.draws_evenly()) {
    distinct_.emplace(space, choice.seed);
  }
}

Result<Sampler> Sampler::Of(const CompiledSpace& space, const SamplerChoice& choice) {
  const auto refuse = [&](std::string why, std::string hint) {
    return Fail(Error("sampler", choice.place, std::move(why), std::move(hint)));
  };
  if (choice.shards == 0 || choice.shard >= choice.shards) {
    return refuse(
        "shard " + std::to_string(choice.shard) + " of " + std::to_string(choice.shards) + ": there is no such one",
        "of 4 shards the numbers are 0/4 to 3/4");
  }
  if (choice.trials && *choice.trials == 0) return refuse("a sweep of no trials tries nothing", "");
  const auto size = space.size();
  if (choice.kind == SamplerChoice::Kind::kGrid) {
    if (!size) {
      return refuse("a grid needs discrete values, but there is " + NamesOf(space.continuous()),
                    "--random 100 or --sobol 128 draws from it; range(low, high, step) has values");
    }
    return Sampler(space, choice, std::min(*size, choice.trials.value_or(*size)), *size);
  }
  if (!choice.trials) {
    if (!size) return refuse("missing number of trials", "trials = 128");
    return Sampler(space, choice, *size, choice.kind == SamplerChoice::Kind::kSobol ? kMostSobolPoints : *size);
  }
  if (choice.kind == SamplerChoice::Kind::kSobol) {
    if (space.dimensions().size() > SobolPoints::kMostDimensions) {
      return refuse("Sobol's sequence has " + std::to_string(SobolPoints::kMostDimensions) +
                        " dimensions, and the space " + std::to_string(space.dimensions().size()),
                    "--random draws any number");
    }
    if (*choice.trials > kMostSobolPoints) return refuse("Sobol's sequence has 2^32 points", "");
    return Sampler(space, choice, *choice.trials, kMostSobolPoints);
  }
  // Sampling without replacement ends when all points are used.
  return Sampler(space, choice, size ? std::min(*size, *choice.trials) : *choice.trials, size.value_or(kMostDraws));
}

void Sampler::Extend(std::uint64_t size) {
  if (size <= size_) return;
  size_ = std::min(size, limit_);
  choice_.trials = size_ * choice_.shards;  // of which this shard has exactly size_
}

Point Sampler::At(std::uint64_t trial) {
  const std::uint64_t number = trial * choice_.shards + choice_.shard;
  if (choice_.kind == SamplerChoice::Kind::kGrid) return space_->At(number);
  if (distinct_) return distinct_->At(number);
  if (choice_.kind == SamplerChoice::Kind::kRandom) {
    if (const auto size = space_->size()) return space_->At(Shuffled(number, *size, choice_.seed));
    return space_->From([&](const std::string& dimension) { return Draw(choice_.seed, number, dimension); });
  }
  if (!sobol_) return space_->At(0);
  const std::vector<double> coordinates = sobol_->At(number);
  const auto& dimensions = space_->dimensions();
  std::map<std::string_view, double> by_name;
  for (std::size_t d = 0; d < dimensions.size(); ++d) by_name.emplace(dimensions[d], coordinates[d]);
  return space_->From([&](const std::string& dimension) { return by_name.at(dimension); });
}

}  // namespace muster
