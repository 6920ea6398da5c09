#include "serve/live/live_curve.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace muster {
namespace {

constexpr std::size_t kMostCurves = kMostMetricNames;
constexpr std::array<std::string_view, 5> kSteps = {"step", "global_step", "iteration", "iter", "epoch"};

std::optional<double> FiniteOf(const Value& value) {
  if (const std::int64_t* whole = value.AsInt()) return static_cast<double>(*whole);
  const double* number = value.AsDouble();
  return number != nullptr && std::isfinite(*number) ? std::optional(*number) : std::nullopt;
}

}  // namespace

void LiveCurve::Add(double at, double value) {
  ++total;
  x.push_back(at);
  y.push_back(value);
  left_out.push_back(waiting.points);
  mean.push_back(waiting.mean);
  waiting = {};
  if (x.size() <= kMostPoints) return;
  constexpr std::size_t kGroup = 4;
  std::size_t kept = 0;
  for (std::size_t from = 0; from < x.size(); from += kGroup) {
    const auto begin = y.begin() + static_cast<std::ptrdiff_t>(from);
    const auto end = y.begin() + static_cast<std::ptrdiff_t>(std::min(from + kGroup, y.size()));
    auto [low, high] = std::minmax_element(begin, end);
    if (high < low) std::swap(low, high);
    std::array<std::size_t, 2> chosen = {static_cast<std::size_t>(low - y.begin()),
                                         static_cast<std::size_t>(high - y.begin())};
    for (std::size_t i = from; i < std::min(from + kGroup, y.size()); ++i) {
      waiting.Add(left_out[i], mean[i]);
      if (i != chosen[0] && i != chosen[1]) {
        waiting.Add(1, y[i]);
        continue;
      }
      x[kept] = x[i];
      y[kept] = y[i];
      left_out[kept] = waiting.points;
      mean[kept++] = waiting.mean;
      waiting = {};
    }
  }
  x.resize(kept);
  y.resize(kept);
  left_out.resize(kept);
  mean.resize(kept);
  replaced = true;
}

void LiveCurves::Add(const MetricValues& report) {
  ++reports_;
  for (std::size_t i = 0; step_.empty() && i < kSteps.size(); ++i) {
    if (report.contains(std::string(kSteps[i]))) step_ = kSteps[i];
  }
  const auto step = step_.empty() ? report.end() : report.find(step_);
  if (step != report.end()) {
    at_ = FiniteOf(step->second);
  } else if (step_.empty()) {
    at_ = static_cast<double>(reports_);
  }
  if (!at_) return;
  for (const auto& [name, value] : report) {
    const std::optional<double> number = name == step_ ? std::nullopt : FiniteOf(value);
    if (!number || (curves_.size() >= kMostCurves && !curves_.contains(name))) continue;
    curves_[name].Add(*at_, *number);
  }
}

}  // namespace muster
