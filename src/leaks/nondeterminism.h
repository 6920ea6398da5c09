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

// Results of a second or more after the first of the repeated plans.
struct LatePlans {
  std::string first;  // of the interpreter that made the first of them
  std::string other;  // of one that was started late
};

// `plans` must not be empty.
NondeterminismCause JudgeRepeats(std::span<const RepeatedPlan> plans, const LatePlans& late);

}  // namespace muster
