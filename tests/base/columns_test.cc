// Tests line breaking of texts in columns.
#include "base/values/columns.h"

#include <gtest/gtest.h>

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

}  // namespace
}  // namespace muster
