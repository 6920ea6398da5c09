#include "space/sampler.h"

#include <algorithm>
#include <bit>
#include <limits>
#include <utility>

#include <fmt/format.h>

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
        choice.shards == 0
            ? "0/1 is all of it"
            : fmt::format("of {0} shards the numbers are 0/{0} to {1}/{0}", choice.shards, choice.shards - 1));
  }
  if (choice.trials && *choice.trials == 0) return RefuseSampler(choice, "a sweep of no trials tries nothing", "");
  if (!choice.kept.empty()) return MakeEditedSampler(space, choice);
  if (choice.seeds) return MakeRepeatedSampler(space, choice);
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
void Sampler::Tell(std::uint64_t, const TrialResult&) {}
void Sampler::TellRung(std::uint64_t, std::uint64_t, double) {}

std::vector<std::size_t> ByFronts(const std::vector<std::pair<double, double>>& losses, std::size_t* first_front) {
  std::vector<std::size_t> order(losses.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return losses[a] < losses[b]; });
  // Each goes to the first front whose last one does not dominate it; equal ones do not dominate each other.
  std::vector<std::vector<std::size_t>> fronts;
  for (const std::size_t one : order) {
    const auto dominates = [&](const std::vector<std::size_t>& front) {
      const auto& last = losses[front.back()];
      return last.second <= losses[one].second && last != losses[one];
    };
    const auto front = std::partition_point(fronts.begin(), fronts.end(), dominates);
    if (front == fronts.end()) {
      fronts.push_back({one});
    } else {
      front->push_back(one);
    }
  }
  if (first_front != nullptr) *first_front = fronts.empty() ? 0 : fronts.front().size();
  std::vector<std::size_t> by_fronts;
  for (std::vector<std::size_t>& front : fronts) {
    // Along a front one loss grows and the other falls.
    const double width = losses[front.back()].first - losses[front.front()].first;
    const double height = losses[front.front()].second - losses[front.back()].second;
    std::vector<std::pair<double, std::size_t>> apart;
    for (std::size_t i = 0; i < front.size(); ++i) {
      double distance = std::numeric_limits<double>::infinity();
      if (i > 0 && i + 1 < front.size()) {
        const auto& before = losses[front[i - 1]];
        const auto& after = losses[front[i + 1]];
        distance = (width > 0 ? (after.first - before.first) / width : 0) +
                   (height > 0 ? (before.second - after.second) / height : 0);
      }
      apart.emplace_back(distance, front[i]);
    }
    std::stable_sort(apart.begin(), apart.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
    for (const auto& [distance, one] : apart) by_fronts.push_back(one);
  }
  return by_fronts;
}

bool IsFeasible(const std::vector<double>& excess) {
  return std::none_of(excess.begin(), excess.end(), [](double by) { return by > 0; });
}
void Sampler::Recall(std::uint64_t, const std::vector<Point>&) {}

tl::unexpected<Diagnostics> RefuseSampler(const SamplerChoice& choice, std::string why, std::string hint) {
  return Fail(Error("sampler", choice.place, std::move(why), std::move(hint)));
}

}  // namespace muster
