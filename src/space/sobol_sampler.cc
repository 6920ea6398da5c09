// Points of Sobol's sequence.
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <boost/random/sobol.hpp>

#include "space/sampler.h"

namespace muster {
namespace {

std::uint32_t Reversed(std::uint32_t x) {
  x = ((x >> 1U) & 0x55555555U) | ((x & 0x55555555U) << 1U);
  x = ((x >> 2U) & 0x33333333U) | ((x & 0x33333333U) << 2U);
  x = ((x >> 4U) & 0x0f0f0f0fU) | ((x & 0x0f0f0f0fU) << 4U);
  x = ((x >> 8U) & 0x00ff00ffU) | ((x & 0x00ff00ffU) << 8U);
  return (x >> 16U) | (x << 16U);
}

// Each bit depends on the higher ones only, so every prefix of 2^k points stays evenly distributed.
std::uint32_t Scrambled(std::uint32_t x, std::uint32_t seed) {
  x = Reversed(x);
  x += seed;
  x ^= x * 0x6c50b47cU;
  x ^= x * 0xb82f1e52U;
  x ^= x * 0xc7afe638U;
  x ^= x * 0x8d22f6e6U;
  return Reversed(x);
}

std::uint32_t SeedOf(std::uint64_t seed, std::uint64_t dimension) {
  std::uint64_t x = seed + (dimension + 1) * 0x9e3779b97f4a7c15U;
  x = (x ^ (x >> 30U)) * 0xbf58476d1ce4e5b9U;
  x = (x ^ (x >> 27U)) * 0x94d049bb133111ebU;
  return static_cast<std::uint32_t>((x ^ (x >> 31U)) >> 32U);
}

}  // namespace

struct SobolPoints::Engine {
  // Its first output is the point of index 1.
  boost::random::sobol_engine<std::uint32_t, 32> sobol;
  std::size_t dimensions;
  std::optional<std::uint64_t> seed;
  std::uint64_t next = 1;
};

SobolPoints::SobolPoints(std::size_t dimensions, std::optional<std::uint64_t> seed)
    : engine_(new Engine{boost::random::sobol_engine<std::uint32_t, 32>(dimensions), dimensions, seed}) {}
SobolPoints::SobolPoints(SobolPoints&&) noexcept = default;
SobolPoints& SobolPoints::operator=(SobolPoints&&) noexcept = default;
SobolPoints::~SobolPoints() = default;

std::vector<double> SobolPoints::At(std::uint64_t index) {
  Engine& engine = *engine_;
  if (index != 0 && index != engine.next) {
    engine.sobol.seed();
    engine.sobol.discard((index - 1) * engine.dimensions);
  }
  if (index != 0) engine.next = index + 1;
  std::vector<double> point(engine.dimensions);
  for (std::size_t d = 0; d < point.size(); ++d) {
    std::uint32_t x = index == 0 ? 0 : engine.sobol();
    if (engine.seed) x = Scrambled(x, SeedOf(*engine.seed, d));
    point[d] = static_cast<double>(x) * 0x1p-32;
  }
  return point;
}

namespace {

constexpr std::uint64_t kMaxSobolPoints = std::uint64_t{1} << 32U;

class SobolSampler final : public Sampler {
 public:
  SobolSampler(const CompiledSpace& space, const SamplerChoice& choice, std::uint64_t all)
      : Sampler(space, choice, all, kMaxSobolPoints) {
    if (space.dimensions().empty()) return;
    points_.emplace(space.dimensions().size(), choice.scramble ? std::optional(choice.seed) : std::nullopt);
  }

  Point At(std::uint64_t trial) override {
    if (!points_) return space().At(0);
    const std::vector<double> coordinates = points_->At(NumberOf(trial));
    const auto& dimensions = space().dimensions();
    std::map<std::string_view, double> by_name;
    for (std::size_t d = 0; d < dimensions.size(); ++d) by_name.emplace(dimensions[d], coordinates[d]);
    return space().From([&](const std::string& dimension) { return by_name.at(dimension); });
  }

 private:
  std::optional<SobolPoints> points_;
};

}  // namespace

Result<std::unique_ptr<Sampler>> MakeSobolSampler(const CompiledSpace& space, const SamplerChoice& choice) {
  const auto size = space.size();
  if (!size && !choice.trials) return RefuseSampler(choice, "missing number of trials", "trials = 128");
  if (choice.trials && space.dimensions().size() > SobolPoints::kMaxDimensions) {
    return RefuseSampler(choice,
                         "Sobol's sequence has " + std::to_string(SobolPoints::kMaxDimensions) +
                             " dimensions, and the space " + std::to_string(space.dimensions().size()),
                         "--random draws any number");
  }
  const std::uint64_t trials = choice.trials.value_or(size.value_or(0));
  if (choice.trials && trials > kMaxSobolPoints) return RefuseSampler(choice, "Sobol's sequence has 2^32 points", "");
  return std::make_unique<SobolSampler>(space, choice, trials);
}

}  // namespace muster
