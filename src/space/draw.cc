#include "space/draw.h"

#include <bit>

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

}  // namespace muster
