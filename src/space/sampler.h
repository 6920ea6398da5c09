// Maps trial numbers to points of a space: trial n is a function of the space, the kind, the seed and n, so a sweep
// that is resumed only needs the number of trials so far.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "muster/result.h"
#include "space/compiled_space.h"
#include "space/distinct_draws.h"
#include "space/sobol_points.h"

namespace muster {

struct SamplerChoice {
  enum class Kind : std::uint8_t {
    kGrid,    // every point, in the space's order
    kRandom,  // drawn (space/draw.h); without repetition if the space is countable (space/distinct_draws.h)
    kSobol,   // low-discrepancy sequence (space/sobol_points.h)
  };
  Kind kind = Kind::kGrid;
  std::optional<std::uint64_t> trials = {};  // of a grid: an upper limit
  std::uint64_t seed = 0;
  bool scramble = true;  // kSobol
  // Splits the trials into `shards` equal parts; this part has the trials shard, shard + shards, …
  std::uint64_t shard = 0;
  std::uint64_t shards = 1;
  Place place = {};
  // Random points of a countable space are drawn by the weights of their choices. False: all points equally often, as
  // in sweeps that began before unions had weights.
  bool weighted = true;

  bool operator==(const SamplerChoice&) const = default;
};

class Sampler {
 public:
  // Kind "sampler": a grid of an uncountable space, draws without a number of trials, an invalid shard, more dimensions
  // than the sequence has. The space must outlive it.
  static Result<Sampler> Of(const CompiledSpace& space, const SamplerChoice& choice);

  // The number of trials in this shard.
  std::uint64_t size() const { return size_; }
  // The largest size of this shard: the number of points that the space or the sequence has for it.
  std::uint64_t limit() const { return limit_; }
  // Adds trials up to this size, which is at most limit(); the points of existing trials stay. A smaller size has no
  // effect.
  void Extend(std::uint64_t size);
  // With the number of trials after Extend().
  const SamplerChoice& choice() const { return choice_; }
  // `trial` below size().
  Point At(std::uint64_t trial);

 private:
  // `all`, `most`: the numbers of trials of all shards together.
  Sampler(const CompiledSpace& space, const SamplerChoice& choice, std::uint64_t all, std::uint64_t most);

  const CompiledSpace* space_;
  SamplerChoice choice_;
  std::uint64_t size_;
  std::uint64_t limit_;
  std::optional<SobolPoints> sobol_;
  std::optional<DistinctDraws> distinct_;
};

}  // namespace muster
