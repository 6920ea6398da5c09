// Which points of a space are tried, by their number: trial n is a function of the space, the kind, the seed and n, so
// a sweep that goes on remembers nothing but how far it came.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "muster/result.h"
#include "space/sobol_points.h"
#include "space/space.h"

namespace muster {

struct SamplerChoice {
  enum class Kind : std::uint8_t {
    kGrid,    // every point, in the space's order
    kRandom,  // drawn (space/draw.h); of a space that can be counted, no point twice
    kSobol,   // spread evenly (space/sobol_points.h)
  };
  Kind kind = Kind::kGrid;
  std::optional<std::uint64_t> trials = {};  // of a grid: no more than so many
  std::uint64_t seed = 0;
  bool scramble = true;  // kSobol
  // One of so many equal parts, of which each trial is in exactly one: trials shard, shard + shards, …
  std::uint64_t shard = 0;
  std::uint64_t shards = 1;
  Place place = {};

  bool operator==(const SamplerChoice&) const = default;
};

class Sampler {
 public:
  // Kind "sampler": a grid of what cannot be counted, draws without a number of trials, a shard that is none, more
  // dimensions than the sequence has. The space has to outlive it.
  static Result<Sampler> Of(const CompiledSpace& space, const SamplerChoice& choice);

  // How many trials there are, those of other shards left out.
  std::uint64_t size() const { return size_; }
  // `trial` below size().
  Point At(std::uint64_t trial);

 private:
  Sampler(const CompiledSpace& space, const SamplerChoice& choice, std::uint64_t all);

  const CompiledSpace* space_;
  SamplerChoice choice_;
  std::uint64_t size_;
  std::optional<SobolPoints> sobol_;
};

}  // namespace muster
