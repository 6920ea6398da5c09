// Tests line breaking of texts in columns.
#include <gtest/gtest.h>

#include "base/values/utf8_text.h"

namespace muster {
namespace {

TEST(WrappedLines, BreaksAtBlanksAndIndents) {
  EXPECT_EQ(WrappedLines("one two three four\nfive\n", 10, 2), "one two\n  three\n  four\nfive\n");
  EXPECT_EQ(WrappedLines("exactly ten", 11, 2), "exactly ten");
  EXPECT_EQ(WrappedLines("  head     long value", 12, 4), "  head\n    long\n    value");
  EXPECT_EQ(WrappedLines("a_word_that_is_longer_than_any_line x", 12, 2),
            "a_word_that_\n  is_longer_\n  than_any_l\n  ine x");
  EXPECT_EQ(WrappedLines("ä ö ü ß", 4, 0), "ä ö\nü ß");
  EXPECT_EQ(WrappedLines("as it is", 0, 2), "as it is");
  EXPECT_EQ(WrappedLines("", 10, 2), "");
}

TEST(WrappedLines, NeverExceedTheColumns) {
  const std::string text =
      "muster: trial 12 failed in 3.2 s (learning_rate=0.0001, layers=12): worker.0 exited with code 1";
  for (std::size_t columns = 1; columns < 120; ++columns) {
    const std::string wrapped = WrappedLines(text, columns, 8);
    for (std::size_t begin = 0; begin < wrapped.size();) {
      const std::size_t end = std::min(wrapped.find('\n', begin), wrapped.size());
      EXPECT_LE(end - begin, columns) << wrapped;
      begin = end + 1;
    }
  }
}

TEST(FittedLines, BreakAtBlanksAndContinueBelowTheValue) {
  EXPECT_EQ(FittedLines("muster: error: a message that is longer than forty columns\nshort\n", 40),
            "muster: error: a message that is longer\n  than forty columns\nshort\n");
  EXPECT_EQ(FittedLines("  log       a value that is longer than the terminal is wide", 40),
            "  log       a value that is longer than\n            the terminal is wide");
  EXPECT_EQ(FittedLines("as wide as it is, since nobody knows how wide the terminal is", 0),
            "as wide as it is, since nobody knows how wide the terminal is");
}

// Prevents: what is copied from the terminal is broken.
TEST(FittedLines, KeepWordsCommandsAndSourceWhole) {
  EXPECT_EQ(FittedLines("muster: in /a/folder/with/a/name/that/is/longer/than/the/terminal x", 40),
            "muster: in\n  /a/folder/with/a/name/that/is/longer/than/the/terminal\n  x");
  EXPECT_EQ(FittedLines("hint: a program is run by: muster run @torch -- python3 train.py --lr 1; or not", 40),
            "hint: a program is run by:\n  muster run @torch -- python3 train.py --lr 1;\n  or not");
  EXPECT_EQ(FittedLines("hint: the command `muster logs RUN` prints what the processes wrote", 40),
            "hint: the command `muster logs RUN`\n  prints what the processes wrote");
  const std::string source = "   12 |   plan = function(p, job) a(); b(); c(); d(); e() end\n";
  EXPECT_EQ(FittedLines(source, 40), source);
}

TEST(FittedLines, CountNoColumnsForColours) {
  EXPECT_EQ(FittedLines("\x1b[1;31mfailed\x1b[0m: of thirty-five columns in all", 40),
            "\x1b[1;31mfailed\x1b[0m: of thirty-five columns in all");
}

}  // namespace
}  // namespace muster
