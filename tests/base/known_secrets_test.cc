// Tests that known secrets do not get into texts.
#include "base/system/known_secrets.h"

#include <string>

#include <gtest/gtest.h>

namespace muster {
namespace {

// Values are known to the whole process: each test has its own.

TEST(KnownSecrets, AreHidden) {
  EXPECT_EQ(WithoutSecrets("plum-7781 is unknown"), "plum-7781 is unknown");
  HideFromNowOn("plum-7781");
  EXPECT_EQ(WithoutSecrets("a plum-7781, plum-7781"), "a (hidden), (hidden)");
  EXPECT_EQ(WithoutSecrets(""), "");
}

TEST(KnownSecrets, AreHiddenInEveryFormThatMusterWrites) {
  HideFromNowOn("fig\"\x01\\9");
  EXPECT_EQ(WithoutSecrets("is fig\"\x01\\9."), "is (hidden).");
  EXPECT_EQ(WithoutSecrets(R"x({"is": "fig\"\u0001\\9"})x"), R"x({"is": "(hidden)"})x");
}

TEST(KnownSecrets, AreHiddenLineByLine) {
  HideFromNowOn("-----BEGIN-----\nMIIEpear\r\n==\n");
  EXPECT_EQ(WithoutSecrets("x MIIEpear"), "x (hidden)");
  EXPECT_EQ(WithoutSecrets("a == b"), "a == b") << "too short to be looked for";
}

TEST(KnownSecrets, AreHiddenWhereATextBeginsWithinThem) {
  HideFromNowOn("quince-123456");
  EXPECT_EQ(WithoutSecrets("123456 and", {.begin = true}), "(hidden) and");
  EXPECT_EQ(WithoutSecrets("56 and", {.begin = true}), "56 and");
  EXPECT_EQ(WithoutSecrets("123456 and"), "123456 and");
}

TEST(KnownSecrets, AreHiddenWhereATextEndsWithinThem) {
  HideFromNowOn("rowan-987654");
  EXPECT_EQ(WithoutSecrets("and rowan-98", {.end = true}), "and (hidden)");
  EXPECT_EQ(WithoutSecrets("and row", {.end = true}), "and row");
  EXPECT_EQ(WithoutSecrets("and rowan-98"), "and rowan-98");
  EXPECT_EQ(WithoutSecrets("rowan-987654", {.end = true}), "(hidden)");
  EXPECT_EQ(WithoutSecrets("7654 rowan", {.begin = true, .end = true}), "(hidden) (hidden)");
}

TEST(KnownSecrets, OfWhichOneIsPartOfAnotherAreHiddenWhole) {
  HideFromNowOn("medlar");
  HideFromNowOn("medlar-and-more");
  EXPECT_EQ(WithoutSecrets("medlar-and-more medlar"), "(hidden) (hidden)");
}

TEST(KnownSecrets, AreOverwrittenInPlace) {
  HideFromNowOn("cherry-55");
  std::string text = "a cherry-55 b cherry-55";
  EXPECT_EQ(OverwriteSecrets(text), 2U);
  EXPECT_EQ(text, "a ********* b *********");
}

TEST(KnownSecrets, AreFoundInPiecesOfAText) {
  HideFromNowOn("damson-0123456789");
  const std::string text = "one damson-0123456789, two damson-0123456789 three damson-01234";
  for (std::size_t piece = 1; piece < text.size(); ++piece) {
    std::string waiting;
    std::string written;
    for (std::size_t at = 0; at < text.size(); at += piece) {
      waiting += text.substr(at, piece);
      const std::size_t ready = WithoutPartOfASecret(waiting);
      std::string part = waiting.substr(0, ready);
      OverwriteSecrets(part);
      written += part;
      waiting.erase(0, ready);
    }
    OverwriteSecrets(waiting);
    written += waiting;
    EXPECT_EQ(written, "one *****************, two ***************** three damson-01234") << piece;
  }
}

}  // namespace
}  // namespace muster
