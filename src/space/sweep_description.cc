#include "space/sweep_description.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <utility>

#include <boost/random/sobol.hpp>

#include "space/sweep_fields.h"
#include "wire/archive/json_fields.h"

namespace muster {
namespace {

std::uint64_t Mixed(std::uint64_t x) {
  x += 0x9e3779b97f4a7c15U;
  x = (x ^ (x >> 30U)) * 0xbf58476d1ce4e5b9U;
  x = (x ^ (x >> 27U)) * 0x94d049bb133111ebU;
  return x ^ (x >> 31U);
}

std::uint64_t NameHash(std::string_view name) {
  std::uint64_t hash = 0xcbf29ce484222325U;
  for (const char c : name) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3U;
  return hash;
}

}  // namespace

double Draw(std::uint64_t seed, std::uint64_t trial, std::string_view axis) {
  const std::uint64_t bits = Mixed(Mixed(Mixed(seed) ^ trial) ^ NameHash(axis));
  return static_cast<double>(bits >> 11U) * 0x1p-53;
}

std::uint64_t Shuffled(std::uint64_t index, std::uint64_t size, std::uint64_t seed) {
  if (size < 2) return index;
  const auto half = static_cast<unsigned>((std::bit_width(size - 1) + 1) / 2);
  const std::uint64_t mask = (std::uint64_t{1} << half) - 1;
  do {
    std::uint64_t left = index >> half;
    std::uint64_t right = index & mask;
    for (std::uint64_t round = 0; round < 4; ++round) {
      const std::uint64_t next = left ^ (Mixed(Mixed(seed + round) ^ right) & mask);
      left = right;
      right = next;
    }
    index = (left << half) | right;
  } while (index >= size);
  return index;
}

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

// Then nearly everything that has weight was drawn: what is left is taken in the order of Shuffled().
constexpr int kMaxRepeats = 64;

}  // namespace

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

namespace {

constexpr std::uint64_t kMaxSobolPoints = std::uint64_t{1} << 32U;
constexpr std::uint64_t kMaxDraws = std::uint64_t{1} << 48U;

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
    return Sampler(space, choice, *size, choice.kind == SamplerChoice::Kind::kSobol ? kMaxSobolPoints : *size);
  }
  if (choice.kind == SamplerChoice::Kind::kSobol) {
    if (space.dimensions().size() > SobolPoints::kMaxDimensions) {
      return refuse("Sobol's sequence has " + std::to_string(SobolPoints::kMaxDimensions) +
                        " dimensions, and the space " + std::to_string(space.dimensions().size()),
                    "--random draws any number");
    }
    if (*choice.trials > kMaxSobolPoints) return refuse("Sobol's sequence has 2^32 points", "");
    return Sampler(space, choice, *choice.trials, kMaxSobolPoints);
  }
  // Sampling without replacement ends when all points are used.
  return Sampler(space, choice, size ? std::min(*size, *choice.trials) : *choice.trials, size.value_or(kMaxDraws));
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

static_assert(kTrialClassNames.size() == static_cast<std::size_t>(TrialClass::kNoResult) + 1);

std::string_view TrialClassName(TrialClass trial_class) {
  return kTrialClassNames[static_cast<std::size_t>(trial_class)];
}

std::optional<TrialClass> ParseTrialClass(std::string_view name) {
  const auto found = std::find(kTrialClassNames.begin(), kTrialClassNames.end(), name);
  if (found == kTrialClassNames.end()) return std::nullopt;
  return static_cast<TrialClass>(found - kTrialClassNames.begin());
}

std::vector<std::string> AllTrialClassNames(bool failures_only) {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < kTrialClassNames.size(); ++i) {
    if (!failures_only || IsFailure(static_cast<TrialClass>(i))) names.emplace_back(kTrialClassNames[i]);
  }
  return names;
}

double ObjectiveValue(const std::optional<Objective>& objective, double loss) {
  return objective && objective->maximize ? 0 - loss : loss;  // not -0
}

namespace {

struct SweepForms : NoForms {
  void Put(auto& writer, const FieldAs<ByClassNames, std::vector<TrialClass>>& classes) const {
    std::vector<std::string_view> names;
    for (const TrialClass each : classes.value) names.push_back(TrialClassName(each));
    writer.Put(names);
  }
  void Put(auto& writer, const FieldAs<ByClassNames, std::map<TrialClass, std::string>>& patterns) const {
    std::map<std::string, std::string> by_name;
    for (const auto& [each, pattern] : patterns.value) by_name.emplace(TrialClassName(each), pattern);
    writer.Put(by_name);
  }
};

}  // namespace

Value SweepDescriptionValue(const SweepDescription& sweep) {
  std::string text;
  JsonWriter<SweepForms>(text).Put(sweep);
  return ValueFromJsonText(text).value_or(Value());
}

Diagnostics CheckSweep(const SweepDescription& sweep) {
  Diagnostics problems;
  auto space = CompiledSpace::Of(sweep.space);
  if (!space) {
    problems = space.error();
  } else if (auto sampler = Sampler::Of(*space, sweep.sampler); !sampler) {
    problems = sampler.error();
  }
  if (!sweep.early_stop) return problems;
  const EarlyStopChoice& stop = *sweep.early_stop;
  if (!sweep.objective) {
    problems.push_back(Error("early_stop", stop.place, "trials are to be stopped early, and the sweep has no objective",
                             "objective = muster.minimize \"loss\""));
  }
  if (stop.resource.empty()) problems.push_back(Error("early_stop", stop.place, "resource names no metric"));
  if (stop.kind == EarlyStopChoice::Kind::kAsha &&
      !(stop.min > 0 && stop.min <= stop.max && stop.eta >= 2 && std::isfinite(stop.max) && std::isfinite(stop.eta))) {
    problems.push_back(Error("early_stop", stop.place, "asha requires 0 < min <= max and eta >= 2"));
  }
  if (stop.kind == EarlyStopChoice::Kind::kMedian && !(stop.warmup >= 0 && std::isfinite(stop.warmup))) {
    problems.push_back(Error("early_stop", stop.place, "warmup is not a number from 0 on"));
  }
  return problems;
}

}  // namespace muster
