// Low-discrepancy points in the unit cube: the Sobol sequence with the direction numbers of Joe and Kuo (Constructing
// Sobol sequences with better two-dimensional projections, SIAM J. Sci. Comput. 30, 2008; new-joe-kuo-6.21201),
// including its zeroth point (Owen: On dropping the first Sobol' point, 2020).
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

namespace muster {

class SobolPoints {
 public:
  static constexpr std::size_t kMostDimensions = 3667;  // of the direction number table

  // From 1 to kMostDimensions. With a seed, each dimension is scrambled by nested uniform scrambling (Owen 1995), as
  // hashed by Laine and Karras with the constants of Burley (Practical Hash-based Owen Scrambling, JCGT 9(4), 2020),
  // which keeps the points evenly distributed and makes them depend on the seed.
  SobolPoints(std::size_t dimensions, std::optional<std::uint64_t> seed);
  SobolPoints(SobolPoints&&) noexcept;
  SobolPoints& operator=(SobolPoints&&) noexcept;
  ~SobolPoints();

  // Each coordinate in [0, 1), with 32 bits. Any index below 2^32; consecutive indices are the
  // fastest.
  std::vector<double> At(std::uint64_t index);

 private:
  struct Engine;
  std::unique_ptr<Engine> engine_;
};

}  // namespace muster
