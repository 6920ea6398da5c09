// Tests curves as text: sparklines and plots, with Unicode's glyphs and in ASCII.
#include "base/values/text_plot.h"

#include <cmath>
#include <limits>

#include <gtest/gtest.h>

#include "base/values/utf8_text.h"

namespace muster {
namespace {

constexpr double kNotFinite = std::numeric_limits<double>::quiet_NaN();
constexpr PlotGlyphs kUnicode = PlotGlyphs::kUnicode;
constexpr PlotGlyphs kAscii = PlotGlyphs::kAscii;

TEST(PlotGlyphs, AreThoseOfTheFirstLocaleThatIsSet) {
  EXPECT_EQ(GlyphsOfLocale(nullptr, nullptr, nullptr), kAscii);
  EXPECT_EQ(GlyphsOfLocale(nullptr, nullptr, "en_US.UTF-8"), kUnicode);
  EXPECT_EQ(GlyphsOfLocale("", "", "C.utf8"), kUnicode);
  EXPECT_EQ(GlyphsOfLocale("C", nullptr, "en_US.UTF-8"), kAscii);
  EXPECT_EQ(GlyphsOfLocale(nullptr, "de_DE.ISO-8859-1", "de_DE.UTF-8"), kAscii);
}

TEST(Sparkline, HasABarForEachValueAtMost) {
  EXPECT_EQ(Sparkline({1, 2, 3, 4, 5, 6, 7, 8}, 20, kUnicode), "▁▂▃▄▅▆▇█");
  EXPECT_EQ(Sparkline({8, 1, 8}, 20, kAscii), "#_#");
  EXPECT_EQ(Sparkline({}, 20, kUnicode), "");
  EXPECT_EQ(Sparkline({1, 2}, 0, kUnicode), "");
}

TEST(Sparkline, ShowsTheMeansOfManyValues) {
  std::vector<double> values;
  for (int i = 0; i < 800; ++i) values.push_back(i);
  EXPECT_EQ(Sparkline(values, 8, kUnicode), "▁▂▃▄▅▆▇█");
  EXPECT_EQ(Columns(Sparkline(values, 7, kUnicode)), 7U);
}

TEST(Sparkline, HasItsOnlyHeightInTheMiddleAndBlanksWhereNothingIsFinite) {
  EXPECT_EQ(Sparkline({5, 5, 5}, 9, kUnicode), "▅▅▅");
  EXPECT_EQ(Sparkline({1, kNotFinite, 9}, 9, kUnicode), "▁ █");
  EXPECT_EQ(Sparkline({1, kNotFinite, 9, 9}, 2, kUnicode), "▁█") << "the mean of what is finite";
  EXPECT_EQ(Sparkline({std::numeric_limits<double>::infinity(), kNotFinite}, 9, kUnicode), "  ");
  EXPECT_EQ(Sparkline({-1e308, 1e308}, 9, kUnicode), "▁█") << "the span of both is not finite";
}

std::string Text(const std::vector<std::string>& lines) {
  std::string text;
  for (const std::string& line : lines) text += line + "\n";
  return text;
}

TEST(TextPlot, DrawsLinesFromPointToPoint) {
  EXPECT_EQ(Text(TextPlot({0, 10, 20}, {4, 2, 4}, {16, 5, false, kAscii})),
            "4 +*           *\n"
            "  | **       **\n"
            "3 +   *     *\n"
            "  |    ** **\n"
            "2 +      *\n"
            "   0          20\n");
}

TEST(TextPlot, HasFourRowsOfDotsInALineOfUnicode) {
  EXPECT_EQ(Text(TextPlot({0, 1}, {0, 1}, {12, 3, false, kUnicode})),
            "  1 ┤     ⢀⠔⠊\n"
            "0.5 ┤  ⢀⡠⠊⠁\n"
            "  0 ┤⡠⠔⠁\n"
            "     0      1\n");
}

TEST(TextPlot, LeavesGapsAndDrawsNothingBackwards) {
  const std::string text = Text(TextPlot({0, 1, 2, 3, 4}, {1, 1, kNotFinite, 1, 1}, {15, 3, false, kAscii}));
  EXPECT_NE(text.find("*  "), std::string::npos) << text;
  EXPECT_EQ(Text(TextPlot({5, 6, 0, 1}, {1, 1, 1, 1}, {15, 3, false, kAscii})).find("*****"), std::string::npos)
      << "after a restart";
}

TEST(TextPlot, LeavesOutWhatALogarithmLacks) {
  const auto lines = TextPlot({1, 2, 3, 4}, {0, 1, 10, 100}, {20, 5, true, kAscii});
  EXPECT_TRUE(lines[0].starts_with("100 +"));
  EXPECT_TRUE(lines[2].starts_with(" 10 +"));
  EXPECT_TRUE(lines[4].starts_with("  1 +*"));
  EXPECT_TRUE(lines[5].starts_with("     2"));
  EXPECT_TRUE(TextPlot({1}, {-1}, {20, 5, true, kAscii}).empty());
}

TEST(TextPlot, NeedsAFinitePointAndStaysWithinItsColumns) {
  EXPECT_TRUE(TextPlot({}, {}, {}).empty());
  EXPECT_TRUE(TextPlot({1}, {kNotFinite}, {}).empty());
  std::vector<double> x;
  std::vector<double> y;
  for (int i = 0; i < 10000; ++i) {
    x.push_back(i);
    y.push_back(std::sin(i) * 1e-7 - 123456);
  }
  for (const std::size_t columns : {30, 80, 200}) {
    for (const std::string& line : TextPlot(x, y, {columns, 12, false, kUnicode})) {
      EXPECT_LE(Columns(line), columns) << line;
    }
  }
  EXPECT_EQ(TextPlot({3}, {4}, {40, 5, false, kAscii}).size(), 6U);
}

}  // namespace
}  // namespace muster
