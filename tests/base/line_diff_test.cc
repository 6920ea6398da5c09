#include "base/line_diff.h"

#include <gtest/gtest.h>

namespace muster {
namespace {

TEST(LineDiff, TellsWhatWasRemovedAndAddedWithItsLines) {
  EXPECT_EQ(DiffLines("a\nb\nc\nd\n", "a\nB\nc\nd\ne\n"),
            (std::vector<LineChange>{{false, 2, "b"}, {true, 2, "B"}, {true, 5, "e"}}));
}

TEST(LineDiff, IsEmptyForEqualTexts) {
  EXPECT_TRUE(DiffLines("a\nb", "a\nb").empty());
  EXPECT_TRUE(DiffLines("", "").empty());
}

TEST(LineDiff, FindsALineThatMoved) {
  EXPECT_EQ(DiffLines("x\na\nb\n", "a\nb\nx\n"), (std::vector<LineChange>{{false, 1, "x"}, {true, 3, "x"}}));
}

TEST(LineDiff, GivesHugeDifferencesWhole) {
  std::string before;
  std::string after;
  for (int i = 0; i < 3'000; ++i) {
    before += "a" + std::to_string(i) + "\n";
    after += "b" + std::to_string(i) + "\n";
  }
  EXPECT_EQ(DiffLines("same\n" + before, "same\n" + after).size(), 6'000);
}

}  // namespace
}  // namespace muster
