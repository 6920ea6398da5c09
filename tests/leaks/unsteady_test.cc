#include <vector>

#include <gtest/gtest.h>

#include "explain/hidden_inputs.h"

namespace muster::testing {
namespace {

TEST(NondeterminismCause, IsDerivedFromWhichPlansAgree) {
  const auto judged = [](const std::vector<RepeatedPlan>& plans, const char* first, const char* other) {
    return JudgeRepeats(plans, {.first = first, .other = other});
  };
  EXPECT_EQ(judged({{"a", "a"}, {"a", "a"}}, "a", "a"), NondeterminismCause::kNo);
  EXPECT_EQ(judged({{"a", "b"}, {"a", "b"}}, "b", "a"), NondeterminismCause::kState) << "all second plans are alike";
  EXPECT_EQ(judged({{"a", "a"}, {"b", "b"}, {"a", "a"}}, "a", "a"), NondeterminismCause::kSeed);
  EXPECT_EQ(judged({{"a", "a"}, {"a", "a"}}, "b", "b"), NondeterminismCause::kClock) << "a clock of seconds";
  EXPECT_EQ(judged({{"a", "b"}, {"c", "d"}}, "e", "f"), NondeterminismCause::kClock) << "a clock of nanoseconds";
  EXPECT_EQ(judged({{"a", "a"}, {"a", "b"}, {"b", "b"}}, "b", "b"), NondeterminismCause::kClock)
      << "a second began meanwhile";
  EXPECT_EQ(judged({{"a", "a"}, {"a", "a"}, {"b", "b"}, {"b", "b"}}, "b", "b"), NondeterminismCause::kClock)
      << "a second began between two interpreters, and the late ones are as the last one";
  EXPECT_EQ(judged({{"a", "a"}, {"b", "b"}, {"c", "c"}, {"d", "d"}}, "e", "e"), NondeterminismCause::kClock)
      << "a second for each, on a slow machine";
  EXPECT_EQ(judged({{"a", "a"}, {"a", "a"}, {"b", "b"}, {"b", "b"}}, "a", "a"), NondeterminismCause::kSeed)
      << "the first one again";
  EXPECT_EQ(judged({{"a", "a"}, {"b", "b"}, {"c", "c"}, {"d", "d"}}, "a", "e"), NondeterminismCause::kSeed)
      << "one for each";
}

}  // namespace
}  // namespace muster::testing
