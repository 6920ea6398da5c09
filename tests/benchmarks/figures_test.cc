// What benchmarks print of what they could not measure.
#include "benchmarks/figures.h"

#include <gtest/gtest.h>

namespace muster::benchmark {
namespace {

// Prevents: a peer that is not installed appears to take no time.
TEST(Figures, SayThatAPeerIsMissing) {
  const Figures none = FiguresOf({});
  EXPECT_EQ(FiguresText("GNU parallel", none),
            "  GNU parallel                                 not measured: not installed, or always failed "
            "(tools/setup --all installs the others)\n");
  EXPECT_EQ(PerTrialText("GNU parallel -j 2", none, 10'000),
            "  GNU parallel -j 2            not measured: not installed, or always failed "
            "(tools/setup --all installs the others)\n");
  const std::string not_measured = "  a / b                                        not measured\n";
  EXPECT_EQ(RatioText("a / b", 0.5 / none.median, "near 1"), not_measured);
  EXPECT_EQ(RatioText("a / b", none.median / 0.5, "near 1"), not_measured);
  EXPECT_EQ(RatioText("a / b", none.median / none.median, "near 1"), not_measured);
}

TEST(Figures, AreShownInMilliseconds) {
  EXPECT_EQ(FiguresText("a", FiguresOf({0.003, 0.001, 0.002})),
            "  a                                            min     1.00 ms   median     2.00 ms   max     3.00 ms   "
            "(n 3)\n");
  EXPECT_EQ(PerTrialText("a", FiguresOf({2.0}), 1000), "  a                              2.00 ms a trial\n");
  EXPECT_EQ(RatioText("a / b", 1.5, "at most 2"),
            "  a / b                                        1.50   (of the medians; wanted: at most 2)\n");
}

}  // namespace
}  // namespace muster::benchmark
