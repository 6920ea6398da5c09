#include "page/compute/distinction.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>

#include <fmt/format.h>

namespace muster {
namespace {

std::optional<Distinction> OfNumbers(const ImportanceAxis& axis, const std::vector<double>& best,
                                     const std::vector<double>& all) {
  constexpr double kClear = 0.5;
  const auto place = [&](double value) { return axis.log ? std::log(std::max(value, 1e-300)) : value; };
  const auto [low, high] = std::minmax_element(best.begin(), best.end());
  const auto [least, most] = std::minmax_element(all.begin(), all.end());
  const double range = place(*most) - place(*least);
  if (range <= 0 || (place(*high) - place(*low)) / range > kClear) return std::nullopt;
  const auto text = [](double a, double b) {
    return a == b ? fmt::format("{:.4g}", a) : fmt::format("{:.3g} to {:.3g}", a, b);
  };
  return Distinction{axis.name, text(*low, *high), text(*least, *most)};
}

std::optional<Distinction> OfChoices(const ImportanceAxis& axis, const std::vector<std::string>& texts,
                                     const std::vector<double>& best, const std::vector<double>& all) {
  std::optional<Distinction> found;
  double most = 0;
  for (std::size_t choice = 0; choice < texts.size(); ++choice) {
    const auto in = [&](const std::vector<double>& values) {
      return std::count(values.begin(), values.end(), static_cast<double>(choice));
    };
    const double share = static_cast<double>(in(best)) / static_cast<double>(best.size());
    const double usual = static_cast<double>(in(all)) / static_cast<double>(all.size());
    if (share <= 0.5 || share < usual * 1.5 || share <= most) continue;
    most = share;
    found = Distinction{axis.name, fmt::format("{} in {} of {}", texts[choice], in(best), best.size()),
                        fmt::format("{:.0f} %", 100 * usual)};
  }
  return found;
}

}  // namespace

std::vector<std::size_t> BestTrials(const std::vector<double>& losses, double gamma) {
  std::vector<std::size_t> order(losses.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  if (losses.size() < kLeastTrials) return order;
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return losses[a] < losses[b]; });
  std::size_t best = std::max<std::size_t>(TopTrials(losses.size(), gamma), 2);
  while (best < order.size() && !Differ(losses[order[best]], losses[order[best - 1]])) ++best;
  order.resize(best);
  return order;
}

std::vector<Distinction> Distinctions(const std::vector<ImportanceAxis>& axes,
                                      const std::vector<std::vector<std::string>>& texts,
                                      const std::vector<double>& losses, double gamma) {
  std::vector<Distinction> found;
  const std::vector<std::size_t> order = BestTrials(losses, gamma);
  if (2 * order.size() > losses.size()) return found;
  for (std::size_t k = 0; k < axes.size(); ++k) {
    const ImportanceAxis& axis = axes[k];
    std::vector<double> best;
    std::vector<double> all;
    for (const std::size_t i : order) {
      if (!std::isnan(axis.values[i])) best.push_back(axis.values[i]);
    }
    for (const double value : axis.values) {
      if (!std::isnan(value)) all.push_back(value);
    }
    if (best.size() < 2) continue;
    auto one = axis.choice ? OfChoices(axis, texts[k], best, all) : OfNumbers(axis, best, all);
    if (one) found.push_back(*std::move(one));
  }
  return found;
}

}  // namespace muster
