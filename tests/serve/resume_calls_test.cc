// Tests what of the output of muster a browser is shown.
#include <gtest/gtest.h>

#include "serve/site/served_site.h"

namespace muster {
namespace {

TEST(ErrorIn, IsTheFirstErrorWithItsHint) {
  EXPECT_EQ(
      ErrorIn("muster: warning: a\nmuster: error: the sweep is in use\n  hint: muster stop it\nmuster: error: b\n"),
      "the sweep is in use (muster stop it)");
  EXPECT_EQ(ErrorIn("error: the recipe has changed\n"), "the recipe has changed");
}

TEST(ErrorIn, IsTheLastLineWithoutOne) {
  EXPECT_EQ(ErrorIn("a\nb\x1b[31m\n\n"), "b\\x1b[31m");
  EXPECT_EQ(ErrorIn(""), "muster resume failed");
}

}  // namespace
}  // namespace muster
