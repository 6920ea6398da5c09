// Tests joining and counting, and texts taken apart into lines.
#include "base/values/text_parts.h"

#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace muster {
namespace {

TEST(Joined, PutsTextBetweenTheParts) {
  EXPECT_EQ(Joined(std::vector<std::string>{}), "");
  EXPECT_EQ(Joined(std::vector<std::string>{"a"}, ", "), "a");
  EXPECT_EQ(Joined(std::vector<std::string>{"", "b", ""}), ",b,");
  EXPECT_EQ(Joined(std::set<std::string>{"c", "a", "b"}, ", ", " and "), "a, b and c");
}

TEST(Counted, HasOneThingInTheSingular) {
  EXPECT_EQ(Counted(1, "host"), "1 host");
  EXPECT_EQ(Counted(0, "host"), "0 hosts");
  EXPECT_EQ(Counted(1, "process", "processes"), "1 process");
  EXPECT_EQ(Counted(3, "process", "processes"), "3 processes");
}

TEST(Trimmed, HasNoBlanksAroundIt) {
  EXPECT_EQ(Trimmed(" \t a b\r\n"), "a b");
  EXPECT_EQ(Trimmed(" \n"), "");
}

TEST(TextLines, NeedNoNewlineAtTheEnd) {
  EXPECT_EQ(TextLines("a\n\nb"), (std::vector<std::string_view>{"a", "", "b"}));
  EXPECT_EQ(TextLines("a\n"), std::vector<std::string_view>{"a"});
  EXPECT_TRUE(TextLines("").empty());
}

TEST(LastLine, IsTheLastThatIsNotBlank) {
  EXPECT_EQ(LastLine("first\nlast \n\n"), "last");
  EXPECT_EQ(LastLine("50 %\r100 %"), "100 %");
  EXPECT_EQ(LastLine(" \n"), "");
}

}  // namespace
}  // namespace muster
