#include "base/values/text_plot.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <limits>
#include <optional>
#include <string_view>
#include <utility>

#include <fmt/format.h>

namespace muster {
namespace {

constexpr std::array<std::string_view, 8> kBlocks = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
constexpr std::array<std::string_view, 8> kAsciiBars = {"_", ".", "-", "~", "=", "+", "*", "#"};

struct Span {
  double low = std::numeric_limits<double>::infinity();
  double high = -std::numeric_limits<double>::infinity();

  void Add(double value) {
    low = std::min(low, value);
    high = std::max(high, value);
  }
  bool empty() const { return low > high; }
  // 0 to 1; a span of one value has it in the middle.
  double Share(double value) const {
    // Halves: the whole may be too large for a number.
    return high > low ? (value / 2 - low / 2) / (high / 2 - low / 2) : 0.5;
  }
};

// A grid of dots behind the cells of a plot.
class Dots {
 public:
  Dots(std::size_t columns, std::size_t rows, PlotGlyphs glyphs)
      : braille_(glyphs == PlotGlyphs::kUnicode),
        columns_(columns),
        wide_(columns * (braille_ ? 2 : 1)),
        high_(rows * (braille_ ? 4 : 1)),
        set_(wide_ * high_, false) {}

  std::size_t wide() const { return wide_; }
  std::size_t high() const { return high_; }
  // Row 0 is at the top.
  void Set(std::size_t column, std::size_t row) { set_[row * wide_ + column] = true; }

  std::string Line(std::size_t row) const {
    std::string line;
    for (std::size_t column = 0; column < columns_; ++column) {
      line += braille_ ? Braille(column, row) : std::string(At(column, row) ? "*" : " ");
    }
    line.erase(line.find_last_not_of(' ') + 1);
    return line;
  }

 private:
  bool At(std::size_t column, std::size_t row) const { return set_[row * wide_ + column]; }

  // Unicode numbers the dots of a pattern down the left side, down the right one, and then the lowest two.
  std::string Braille(std::size_t column, std::size_t row) const {
    constexpr std::array<std::array<unsigned, 4>, 2> kBits = {{{0x01, 0x02, 0x04, 0x40}, {0x08, 0x10, 0x20, 0x80}}};
    unsigned bits = 0;
    for (std::size_t x = 0; x < 2; ++x) {
      for (std::size_t y = 0; y < 4; ++y) {
        if (At(2 * column + x, 4 * row + y)) bits |= kBits[x][y];
      }
    }
    if (bits == 0) return " ";
    return {'\xe2', static_cast<char>(0xa0 | (bits >> 6U)), static_cast<char>(0x80 | (bits & 0x3fU))};
  }

  bool braille_;
  std::size_t columns_;
  std::size_t wide_;
  std::size_t high_;
  std::vector<bool> set_;
};

std::string AxisNumber(double number) { return fmt::format("{:.4g}", number); }

std::size_t CellAt(double share, std::size_t count) {
  return static_cast<std::size_t>(std::lround(share * static_cast<double>(count - 1)));
}

// The curve as straight lines from point to point. A point that is not finite leaves a gap, and so does one to the left
// of the point before it, as after a restart.
void Draw(Dots& dots, const std::vector<double>& x, const std::vector<double>& y, const Span& wide, const Span& high) {
  std::optional<std::pair<double, double>> before;
  for (std::size_t i = 0; i < x.size(); ++i) {
    if (!std::isfinite(x[i]) || !std::isfinite(y[i])) {
      before.reset();
      continue;
    }
    const auto column = static_cast<double>(CellAt(wide.Share(x[i]), dots.wide()));
    const auto row = static_cast<double>(dots.high() - 1 - CellAt(high.Share(y[i]), dots.high()));
    const auto [from_column, from_row] = before && before->first <= column ? *before : std::pair(column, row);
    const double steps = std::max({column - from_column, std::abs(row - from_row), 1.0});
    for (double step = 0; step <= steps; ++step) {
      dots.Set(static_cast<std::size_t>(std::lround(from_column + (column - from_column) * step / steps)),
               static_cast<std::size_t>(std::lround(from_row + (row - from_row) * step / steps)));
    }
    before = {column, row};
  }
}

}  // namespace

PlotGlyphs GlyphsOfLocale(const char* all, const char* ctype, const char* language) {
  for (const char* each : {all, ctype, language}) {
    if (each == nullptr || *each == '\0') continue;
    std::string letters;
    for (const char* c = each; *c != '\0'; ++c) {
      if (*c != '-') letters += static_cast<char>(std::tolower(static_cast<unsigned char>(*c)));
    }
    return letters.find("utf8") == std::string::npos ? PlotGlyphs::kAscii : PlotGlyphs::kUnicode;
  }
  return PlotGlyphs::kAscii;
}

std::string Sparkline(const std::vector<double>& values, std::size_t columns, PlotGlyphs glyphs) {
  const std::size_t bars = std::min(columns, values.size());
  std::vector<std::optional<double>> means(bars);
  Span span;
  for (std::size_t bar = 0; bar < bars; ++bar) {
    double sum = 0;
    std::size_t count = 0;
    for (std::size_t i = bar * values.size() / bars; i < (bar + 1) * values.size() / bars; ++i) {
      if (!std::isfinite(values[i])) continue;
      sum += values[i];
      ++count;
    }
    if (count == 0) continue;
    means[bar] = sum / static_cast<double>(count);
    if (std::isfinite(*means[bar])) span.Add(*means[bar]);
  }
  const auto& steps = glyphs == PlotGlyphs::kUnicode ? kBlocks : kAsciiBars;
  std::string line;
  for (const std::optional<double>& mean : means) {
    line += mean && std::isfinite(*mean) ? steps[CellAt(span.Share(*mean), steps.size())] : std::string_view(" ");
  }
  return line;
}

std::vector<std::string> TextPlot(const std::vector<double>& x, const std::vector<double>& y, const PlotShape& shape) {
  std::vector<double> heights = y;
  if (shape.log_y) {
    for (double& height : heights) height = height > 0 ? std::log10(height) : std::numeric_limits<double>::quiet_NaN();
  }
  Span wide;
  Span high;
  for (std::size_t i = 0; i < x.size(); ++i) {
    if (!std::isfinite(x[i]) || !std::isfinite(heights[i])) continue;
    wide.Add(x[i]);
    high.Add(heights[i]);
  }
  if (high.empty()) return {};
  const auto label = [&](double height) { return AxisNumber(shape.log_y ? std::pow(10, height) : height); };
  const std::string top = label(high.high);
  const std::string middle = label(high.low / 2 + high.high / 2);
  const std::string bottom = label(high.low);
  const std::size_t margin = std::max({top.size(), middle.size(), bottom.size()});
  constexpr std::size_t kNarrowest = 8;
  const std::size_t columns = std::max(shape.columns, margin + 2 + kNarrowest) - margin - 2;
  const std::size_t rows = std::max<std::size_t>(shape.rows, 3);
  Dots dots(columns, rows, shape.glyphs);
  Draw(dots, x, heights, wide, high);

  const bool unicode = shape.glyphs == PlotGlyphs::kUnicode;
  std::vector<std::string> lines;
  for (std::size_t row = 0; row < rows; ++row) {
    const std::string text = row == 0                                 ? top
                             : row + 1 == rows                        ? bottom
                             : row == (rows - 1) / 2 && rows % 2 == 1 ? middle
                                                                      : "";
    const char* axis = unicode ? (text.empty() ? "│" : "┤") : (text.empty() ? "|" : "+");
    lines.push_back(fmt::format("{:>{}} {}{}", text, margin, axis, dots.Line(row)));
  }
  const std::string first = AxisNumber(wide.low);
  const std::string last = wide.high > wide.low ? AxisNumber(wide.high) : "";
  std::string below(margin + 2, ' ');
  below += first;
  if (!last.empty() && first.size() + 1 + last.size() <= columns) {
    below.append(columns - first.size() - last.size(), ' ');
    below += last;
  }
  lines.push_back(std::move(below));
  return lines;
}

}  // namespace muster
