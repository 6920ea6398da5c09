#include "space/sobol_points.h"

#include <boost/random/sobol.hpp>

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

}  // namespace muster
