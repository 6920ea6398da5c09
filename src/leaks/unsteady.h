// What evaluating the same recipe several times says of it: whether the plans differ, and what they can differ by.
// Pure.
#pragma once

#include <cstdint>
#include <span>
#include <string>

namespace muster {

// What one interpreter gave when it was asked twice. Texts are equal if and only if the plans are.
struct TwicePlanned {
  std::string first;
  std::string again;
};

enum class Unsteady : std::uint8_t {
  kNo,
  kState,  // each interpreter's second plan differs from its first in the same way: something is kept between them
  kSeed,   // each interpreter agrees with itself and not with the others: it is the order of tables, or an address
  kClock,  // plans differ within an interpreter, or only those that were made later
};

// `late` is what another interpreter gave a second or more after the first of `plans`, of which there is at least one.
Unsteady JudgeRepeats(std::span<const TwicePlanned> plans, const std::string& late);

}  // namespace muster
