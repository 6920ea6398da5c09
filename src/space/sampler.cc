#include "space/sampler.h"

#include <algorithm>
#include <bit>
#include <utility>

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

std::uint64_t ShardOf(const SamplerChoice& choice, std::uint64_t all) {
  return all / choice.shards + (choice.shard < all % choice.shards ? 1 : 0);
}

}  // namespace

Sampler::Sampler(const CompiledSpace& space, const SamplerChoice& choice, std::uint64_t all, std::uint64_t most)
    : space_(&space), choice_(choice), size_(ShardOf(choice, all)), limit_(ShardOf(choice, std::max(all, most))) {}

Result<std::unique_ptr<Sampler>> Sampler::Of(const CompiledSpace& space, const SamplerChoice& choice) {
  if (choice.shards == 0 || choice.shard >= choice.shards) {
    return RefuseSampler(
        choice,
        "shard " + std::to_string(choice.shard) + " of " + std::to_string(choice.shards) + ": there is no such one",
        "of 4 shards the numbers are 0/4 to 3/4");
  }
  if (choice.trials && *choice.trials == 0) return RefuseSampler(choice, "a sweep of no trials tries nothing", "");
  if (!choice.kept.empty()) return MakeEditedSampler(space, choice);
  return choice.given == SamplerChoice::Given() ? KindOf(choice).make(space, choice) : MakeGivenSampler(space, choice);
}

void Sampler::Extend(std::uint64_t size) {
  if (size <= size_) return;
  size_ = std::min(size, limit_);
  choice_.trials = size_ * choice_.shards;  // of which this shard has exactly size_
}

std::vector<Point> Sampler::Ask(std::uint64_t first, std::uint64_t count) {
  std::vector<Point> points;
  for (std::uint64_t trial = first; trial < first + count; ++trial) points.push_back(At(trial));
  return points;
}

// A sequence does not depend on them.
void Sampler::Tell(std::uint64_t, std::optional<double>) {}
void Sampler::Recall(std::uint64_t, const std::vector<Point>&) {}

tl::unexpected<Diagnostics> RefuseSampler(const SamplerChoice& choice, std::string why, std::string hint) {
  return Fail(Error("sampler", choice.place, std::move(why), std::move(hint)));
}

}  // namespace muster
