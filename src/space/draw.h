// Random numbers by index: each draw is a function of seed, trial and axis, so it does not depend on the order of
// trials, needs no stored state, and is not changed by adding another axis.
#pragma once

#include <cstdint>
#include <string_view>

namespace muster {

// In [0, 1), with 53 bits: the finaliser of SplitMix64 (Steele, Lea, Flood: Fast Splittable Pseudorandom Number
// Generators, OOPSLA 2014) over seed, trial and the FNV-1a hash of the axis's name.
double Draw(std::uint64_t seed, std::uint64_t trial, std::string_view axis);

// A permutation of the numbers below `size`, computed for one index at a time: a Feistel network of four rounds over
// the next power of four, repeated until the result is below `size` (Black and Rogaway: Ciphers with Arbitrary Finite
// Domains, CT-RSA 2002). `index` below `size`, which is below 2^62.
std::uint64_t Shuffled(std::uint64_t index, std::uint64_t size, std::uint64_t seed);

}  // namespace muster
