// Tests "did you mean" suggestions.
#include <gtest/gtest.h>

#include "base/values/diagnostics.h"

namespace muster {
namespace {

const std::vector<std::string> kWords = {"workers", "servers", "epochs", "lr", "gradients_mean", "device_num"};

TEST(Nearest, FindsTypos) {
  EXPECT_EQ(Nearest("workes", kWords), "workers");    // missing letter
  EXPECT_EQ(Nearest("wrokers", kWords), "workers");   // swapped letters
  EXPECT_EQ(Nearest("workerss", kWords), "workers");  // extra letter
  EXPECT_EQ(Nearest("gradient_mean", kWords), "gradients_mean");
  EXPECT_EQ(Nearest("devicenumber", kWords), std::nullopt);  // four edits: not a typo
  EXPECT_EQ(Nearest("l", kWords), "lr");
}

TEST(Nearest, FindsOtherCaseAndDashes) {
  EXPECT_EQ(Nearest("LR", kWords), "lr");
  EXPECT_EQ(Nearest("Device-Num", kWords), "device_num");
}

TEST(Nearest, AllowsAThirdOfTheWordAndAtMostThree) {
  const std::vector<std::string> one = {"abcdefghijkl"};
  EXPECT_EQ(Nearest("abcdefghixyz", one), "abcdefghijkl");  // 3 of 12
  EXPECT_EQ(Nearest("abcdefghwxyz", one), std::nullopt);    // 4
  const std::vector<std::string> shorter = {"abc"};
  EXPECT_EQ(Nearest("abd", shorter), "abc");
  EXPECT_EQ(Nearest("axy", shorter), std::nullopt);
}

TEST(Nearest, ChoosesTheNearestAndTheFirstOfEquals) {
  const std::vector<std::string> words = {"aacc", "aabb", "aabx"};
  EXPECT_EQ(Nearest("aabb", words), "aabb");
  EXPECT_EQ(Nearest("aaxx", std::vector<std::string>{"aaxy", "aaxz"}), "aaxy");
}

TEST(Nearest, IsCheapForHostileWords) {
  const std::vector<std::string> long_words(1000, std::string(100'000, 'a'));
  EXPECT_EQ(Nearest(std::string(100'000, 'a'), long_words), std::nullopt);
  EXPECT_EQ(Nearest("", kWords), std::nullopt);
  EXPECT_EQ(Nearest("x", {}), std::nullopt);
}

TEST(DidYouMean, NamesTheNearestOrAll) {
  EXPECT_EQ(DidYouMean("workes", kWords), "did you mean \"workers\"?");
  EXPECT_EQ(DidYouMean("zzzzz", std::vector<std::string>{"a1", "b2"}), "known: a1, b2");
  EXPECT_EQ(DidYouMean("zzzzz", {}), "");
  const std::vector<std::string> many(13, "abcdefgh");
  EXPECT_TRUE(DidYouMean("zzzzz", many).ends_with(", …"));
  EXPECT_FALSE(DidYouMean("zzzzz", std::vector<std::string>(12, "abcdefgh")).ends_with("…"));
}

}  // namespace
}  // namespace muster
