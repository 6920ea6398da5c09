// Curves as text: a row of bars of different heights for a table, and a plot with axes. With Unicode's block elements
// and Braille patterns, or in ASCII.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace muster {

enum class PlotGlyphs : std::uint8_t { kUnicode, kAscii };

// The glyphs that a terminal with these values of LC_ALL, LC_CTYPE and LANG shows: kUnicode if the first that is
// neither null nor empty names UTF-8.
PlotGlyphs GlyphsOfLocale(const char* all, const char* ctype, const char* language);

// The values in order as at most `columns` bars, each the mean of as many values as the others; the lowest and the
// highest fill the height. Values that are not finite are left out; a bar without any is a blank.
std::string Sparkline(const std::vector<double>& values, std::size_t columns, PlotGlyphs glyphs);

struct PlotShape {
  std::size_t columns = 72;  // of the whole plot, with its axes
  std::size_t rows = 12;     // without the line of the x axis
  bool log_y = false;        // values up to 0 are left out then
  PlotGlyphs glyphs = PlotGlyphs::kUnicode;
};

// Lines of a plot of `y` over `x`, which are equally long; empty without a finite point. Between points that are next
// to each other the curve is drawn, so that extremes between two columns are seen.
std::vector<std::string> TextPlot(const std::vector<double>& x, const std::vector<double>& y, const PlotShape& shape);

}  // namespace muster
