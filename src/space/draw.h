// Chance that can be asked for by number: each draw is a function of seed, trial and axis, so the order of trials does
// not matter, nothing has to be remembered, and another axis changes no draw of the others.
#pragma once

#include <cstdint>
#include <string_view>

namespace muster {

// In [0, 1), with 53 bits: the finaliser of SplitMix64 (Steele, Lea, Flood: Fast Splittable Pseudorandom Number
// Generators, OOPSLA 2014) over seed, trial and the FNV-1a hash of the axis's name.
double Draw(std::uint64_t seed, std::uint64_t trial, std::string_view axis);

// The numbers below `size` in another order: each index has its own, and none has to be kept. A Feistel network of four
// rounds over the next power of four, walked until it is back below `size` (Black and Rogaway: Ciphers with Arbitrary
// Finite Domains, CT-RSA 2002). `index` below `size`, which is below 2^62.
std::uint64_t Shuffled(std::uint64_t index, std::uint64_t size, std::uint64_t seed);

}  // namespace muster
