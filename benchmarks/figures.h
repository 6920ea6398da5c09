// Figures of measurements, and their formatting; missing values are named, and never shown as 0. Pure.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace muster::benchmark {

struct Figures {
  double min = 0;  // seconds
  double median = 0;
  double max = 0;
  std::size_t count = 0;  // 0: nothing was measured
};
Figures FiguresOf(std::vector<double> samples);

// "  label               min 1.2 ms   median 1.3 ms   max 2.0 ms   (n 20)\n"
std::string FiguresText(const std::string& label, const Figures& figures);
// "  label               1.04 ×  (of the medians; wanted: at most 1.3)\n". A ratio with 0 on one side counts as not
// measured.
std::string RatioText(const std::string& label, double ratio, const std::string& wanted);
// "  label                 0.52 ms a trial\n", for figures of `trials` trials together.
std::string PerTrialText(const std::string& label, const Figures& figures, std::size_t trials);

}  // namespace muster::benchmark
