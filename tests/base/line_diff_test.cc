#include "base/values/line_diff.h"

#include <gtest/gtest.h>

namespace muster {
namespace {

TEST(LineDiff, ReportsRemovedAndAddedLines) {
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

TEST(LineDiff, ReplacesAPartThatDiffersTooMuch) {
  std::string before;
  std::string after;
  for (int i = 0; i < 3'000; ++i) {
    before += "a" + std::to_string(i) + "\n";
    after += "b" + std::to_string(i) + "\n";
  }
  EXPECT_EQ(DiffLines("same\n" + before, "same\n" + after).size(), 6'000);
}

std::string Unified(std::string_view before, std::string_view after, std::uint32_t context = 1) {
  std::string text;
  for (const std::string& line : UnifiedDiff(before, after, context)) text += line + "\n";
  return text;
}

TEST(UnifiedDiff, HasHunksWithContext) {
  EXPECT_EQ(Unified("a\nb\nc\nd\ne\nf\ng\n", "a\nB\nc\nd\ne\nf\nG\nh\n"),
            "@@ -1,3 +1,3 @@\n a\n-b\n+B\n c\n@@ -6,2 +6,3 @@\n f\n-g\n+G\n+h\n");
  EXPECT_EQ(Unified("a\nb\nc\n", "a\nb\nc\n"), "");
  EXPECT_EQ(Unified("", "a\n"), "@@ -0,0 +1 @@\n+a\n");
  EXPECT_EQ(Unified("a\nb\n", "b\n"), "@@ -1,2 +1 @@\n-a\n b\n");
  EXPECT_EQ(Unified("1\n2\n3\n4\n", "x\n2\n3\ny\n"), "@@ -1,4 +1,4 @@\n-1\n+x\n 2\n 3\n-4\n+y\n");
}

TEST(UnifiedDiff, MarksAMissingFinalNewline) {
  EXPECT_EQ(Unified("a\nb\n", "a\nb"), "@@ -1,2 +1,2 @@\n a\n-b\n+b\n\\ No newline at end of file\n");
  EXPECT_EQ(Unified("b", "b\n"), "@@ -1 +1 @@\n-b\n\\ No newline at end of file\n+b\n");
}

}  // namespace
}  // namespace muster
