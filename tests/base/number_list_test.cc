#include <gtest/gtest.h>

#include "base/values/number_text.h"

namespace muster {
namespace {

using Numbers = std::vector<std::uint32_t>;

TEST(NumberList, IsParsedInTheSpellingsOfUsersAndTheKernel) {
  EXPECT_EQ(ParseNumberList("4-7"), (Numbers{4, 5, 6, 7}));
  EXPECT_EQ(ParseNumberList("6,0-3,2"), (Numbers{0, 1, 2, 3, 6}));
  EXPECT_EQ(ParseNumberList("5"), Numbers{5});
  for (const char* text : {"", ",", "1,", "3-1", "a", "1 ,2", "-1", "1-", "4294967296", "65536"}) {
    EXPECT_FALSE(ParseNumberList(text)) << text;
  }
  EXPECT_FALSE(ParseNumberList("0-8", 8));
  EXPECT_TRUE(ParseNumberList("0-7", 8));
}

TEST(NumberList, IsWrittenInItsShortestForm) {
  EXPECT_EQ(NumberListText({}), "");
  EXPECT_EQ(NumberListText({3}), "3");
  EXPECT_EQ(NumberListText({0, 1, 2, 3, 7, 9, 10}), "0-3,7,9-10");
}

}  // namespace
}  // namespace muster
