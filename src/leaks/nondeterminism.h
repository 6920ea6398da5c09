// Compares repeated evaluations of a recipe: whether the plans differ, and the likely cause.
// Pure.
#pragma once

#include <cstdint>
#include <span>
#include <string>

namespace muster {

// The two results of one interpreter. Texts are equal if and only if the plans are.
struct RepeatedPlan {
  std::string first;
  std::string again;
};

enum class NondeterminismCause : std::uint8_t {
  kNo,
  kState,  // each interpreter's second plan differs from its first in the same way: it keeps state
  kSeed,   // each interpreter is consistent, but they differ: the order of tables, or an address
  kClock,  // plans differ within an interpreter, or only between early and late ones
};

// `late` is the result of another interpreter, a second or more after the first of `plans`, which must not be empty.
NondeterminismCause JudgeRepeats(std::span<const RepeatedPlan> plans, const std::string& late);

}  // namespace muster
