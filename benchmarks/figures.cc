#include "figures.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

namespace muster::benchmark {
namespace {

constexpr const char* kMissing =
    "not measured: not installed, or always failed (tools/setup --all installs the others)";

std::string Line(const std::string& label, int width, const std::string& rest) {
  std::string line = "  " + label;
  line.append(label.size() < static_cast<std::size_t>(width) ? static_cast<std::size_t>(width) - label.size() : 0, ' ');
  return line + " " + rest + "\n";
}

template <class... Values>
std::string Formatted(const char* format, Values... values) {
  char text[160];
  std::snprintf(text, sizeof text, format, values...);
  return text;
}

}  // namespace

Figures FiguresOf(std::vector<double> samples) {
  if (samples.empty()) return {};
  std::sort(samples.begin(), samples.end());
  return {samples.front(), samples[samples.size() / 2], samples.back(), samples.size()};
}

std::string FiguresText(const std::string& label, const Figures& figures) {
  if (figures.count == 0) return Line(label, 44, kMissing);
  return Line(label, 44,
              Formatted("min %8.2f ms   median %8.2f ms   max %8.2f ms   (n %zu)", figures.min * 1e3,
                        figures.median * 1e3, figures.max * 1e3, figures.count));
}

std::string RatioText(const std::string& label, double ratio, const std::string& wanted) {
  if (!std::isfinite(ratio) || ratio <= 0) return Line(label, 44, "not measured");
  return Line(label, 44, Formatted("%.2f   (of the medians; wanted: ", ratio) + wanted + ")");
}

std::string PerTrialText(const std::string& label, const Figures& figures, std::size_t trials) {
  if (figures.count == 0) return Line(label, 28, kMissing);
  return Line(label, 28, Formatted("%6.2f ms a trial", figures.median / static_cast<double>(trials) * 1000));
}

}  // namespace muster::benchmark
