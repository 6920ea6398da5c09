#include "leaks/unsteady.h"

#include <vector>

#include <gtest/gtest.h>

namespace muster::testing {
namespace {

TEST(Unsteady, TellsByWhoAgreesWithWhomWhatLetsPlansDiffer) {
  const auto judged = [](const std::vector<TwicePlanned>& plans, const char* late) {
    return JudgeRepeats(plans, late);
  };
  EXPECT_EQ(judged({{"a", "a"}, {"a", "a"}}, "a"), Unsteady::kNo);
  EXPECT_EQ(judged({{"a", "b"}, {"a", "b"}}, "a"), Unsteady::kState) << "all second plans are alike";
  EXPECT_EQ(judged({{"a", "a"}, {"b", "b"}, {"a", "a"}}, "a"), Unsteady::kSeed);
  EXPECT_EQ(judged({{"a", "a"}, {"a", "a"}}, "b"), Unsteady::kClock) << "a clock of seconds";
  EXPECT_EQ(judged({{"a", "b"}, {"c", "d"}}, "e"), Unsteady::kClock) << "a clock of nanoseconds";
  EXPECT_EQ(judged({{"a", "a"}, {"a", "b"}, {"b", "b"}}, "b"), Unsteady::kClock) << "a second began meanwhile";
  EXPECT_EQ(judged({{"a", "a"}, {"a", "a"}, {"b", "b"}, {"b", "b"}}, "c"), Unsteady::kClock)
      << "a second began between two interpreters";
  EXPECT_EQ(judged({{"a", "a"}, {"a", "a"}, {"b", "b"}, {"b", "b"}}, "a"), Unsteady::kSeed) << "the first one again";
  EXPECT_EQ(judged({{"a", "a"}, {"b", "b"}, {"c", "c"}, {"d", "d"}}, "e"), Unsteady::kSeed) << "one for each";
}

}  // namespace
}  // namespace muster::testing
