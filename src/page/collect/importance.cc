#include "page/collect/importance.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

#include <fmt/format.h>

namespace muster {
namespace {

constexpr std::size_t kGridSteps = 50;
constexpr double kPriorWeight = 1;

double NormalBelow(double x) { return 0.5 * std::erfc(-x / std::sqrt(2.0)); }

double Sum(const std::vector<double>& values) { return std::accumulate(values.begin(), values.end(), 0.0); }

// The grid of an axis, and the place of a value on it.
class Grid {
 public:
  explicit Grid(const ImportanceAxis& axis) : axis_(&axis) {
    if (axis.choice) {
      size_ = std::max<std::size_t>(axis.choices, 1);
      return;
    }
    low_ = Place(axis.low);
    const double high = Place(axis.high);
    size_ = high > low_ ? kGridSteps : 1;
    if (axis.whole && !axis.log)
      size_ = static_cast<std::size_t>(std::min<double>(kGridSteps, axis.high - axis.low + 1));
    step_ = size_ > 1 ? (high - low_) / static_cast<double>(size_ - 1) : 1;
  }

  std::size_t size() const { return size_; }
  std::size_t Of(double value) const {
    // The first grid point that is not more than half a step below the value.
    const double at = axis_->choice ? value : std::ceil((Place(value) - low_) / step_ - 0.5 - 1e-9);
    return static_cast<std::size_t>(std::clamp(at, 0.0, static_cast<double>(size_ - 1)));
  }

 private:
  double Place(double value) const { return axis_->log ? std::log(std::max(value, 1e-300)) : value; }

  const ImportanceAxis* axis_;
  std::size_t size_ = 1;
  double low_ = 0;
  double step_ = 1;
};

// The standard deviation of the kernels by Scott's rule, with the smaller of the deviation and the quartile range.
double Bandwidth(const std::vector<double>& counts) {
  const double trials = Sum(counts);
  std::vector<double> places;
  std::vector<double> weights;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    if (counts[i] <= 0) continue;
    places.push_back(static_cast<double>(i));
    weights.push_back(counts[i]);
  }
  double mean = 0;
  for (std::size_t i = 0; i < places.size(); ++i) mean += places[i] * weights[i] / trials;
  double squares = 0;
  for (std::size_t i = 0; i < places.size(); ++i) squares += weights[i] * (places[i] - mean) * (places[i] - mean);
  const double deviation = std::sqrt(squares / std::max(1.0, trials - 1));
  std::vector<double> below(weights.size());
  std::partial_sum(weights.begin(), weights.end(), below.begin());
  const auto last = static_cast<std::ptrdiff_t>(places.size()) - 1;
  const auto first = std::lower_bound(below.begin(), below.end(), std::floor(trials / 4)) - below.begin();
  const auto third = std::upper_bound(below.begin(), below.end(), std::floor(trials * 3 / 4)) - below.begin();
  const double range =
      places[static_cast<std::size_t>(std::min(last, third))] - places[static_cast<std::size_t>(std::min(last, first))];
  const double sigma = 1.059 * std::min(range / 1.34, deviation) * std::pow(trials, -0.2);
  return std::max(sigma, 0.5 / 1.64);  // 90 % of a kernel within one step of the grid
}

// Numbers: truncated normal kernels at the occupied points of the grid, and a wide one as prior.
std::vector<double> NumberDensity(const std::vector<double>& counts) {
  const double size = static_cast<double>(counts.size());
  const double total = Sum(counts) + kPriorWeight;
  std::vector<double> density(counts.size(), 0);
  const auto add = [&](double middle, double sigma, double weight) {
    const double whole = NormalBelow((size - 0.5 - middle) / sigma) - NormalBelow((-0.5 - middle) / sigma);
    for (std::size_t i = 0; i < counts.size(); ++i) {
      const double at = static_cast<double>(i) - middle;
      density[i] += weight / total * (NormalBelow((at + 0.5) / sigma) - NormalBelow((at - 0.5) / sigma)) / whole;
    }
  };
  const double sigma = Bandwidth(counts);
  for (std::size_t i = 0; i < counts.size(); ++i) {
    if (counts[i] > 0) add(static_cast<double>(i), sigma, counts[i]);
  }
  add((size - 1) / 2, size, kPriorWeight);
  return density;
}

// Choices: for each occupied one a kernel with most of its weight there, and a uniform one as prior.
std::vector<double> ChoiceDensity(const std::vector<double>& counts) {
  const double total = Sum(counts) + kPriorWeight;
  const double kernels =
      static_cast<double>(std::count_if(counts.begin(), counts.end(), [](double n) { return n > 0; })) + 1;
  const double elsewhere = kPriorWeight / kernels;
  const double row = 1 + elsewhere * static_cast<double>(counts.size());
  std::vector<double> density(counts.size(), kPriorWeight / total / static_cast<double>(counts.size()));
  for (std::size_t kernel = 0; kernel < counts.size(); ++kernel) {
    if (counts[kernel] <= 0) continue;
    for (std::size_t i = 0; i < counts.size(); ++i) {
      density[i] += counts[kernel] / total * (elsewhere + (i == kernel ? 1 : 0)) / row;
    }
  }
  return density;
}

double Divergence(const ImportanceAxis& axis, const std::vector<double>& losses, double gamma) {
  const Grid grid(axis);
  std::vector<double> own;  // losses of the trials that have this parameter
  for (std::size_t i = 0; i < losses.size(); ++i) {
    if (!std::isnan(axis.values[i])) own.push_back(losses[i]);
  }
  if (own.empty() || grid.size() < 2) return 0;
  const std::size_t best = TopTrials(own.size(), gamma);
  std::nth_element(own.begin(), own.begin() + static_cast<std::ptrdiff_t>(best - 1), own.end());
  const double limit = own[best - 1];
  std::vector<double> all(grid.size(), 0);
  std::vector<double> top(grid.size(), 0);
  for (std::size_t i = 0; i < losses.size(); ++i) {
    if (std::isnan(axis.values[i])) continue;
    const std::size_t at = grid.Of(axis.values[i]);
    ++all[at];
    if (losses[i] <= limit) ++top[at];
  }
  const auto density = axis.choice ? ChoiceDensity : NumberDensity;
  const std::vector<double> of_all = density(all);
  const std::vector<double> of_top = density(top);
  double sum = 0;
  for (std::size_t i = 0; i < grid.size(); ++i) {
    if (of_all[i] > 0) sum += of_all[i] * std::pow(of_top[i] / of_all[i] - 1, 2);
  }
  return std::pow(Sum(top) / Sum(all), 2) * sum;
}

}  // namespace

bool Differ(double a, double b) { return std::abs(a - b) > kEqual * std::max(std::abs(a), std::abs(b)); }

bool Vary(const std::vector<double>& losses) {
  if (losses.empty()) return false;
  const auto [low, high] = std::minmax_element(losses.begin(), losses.end());
  return Differ(*low, *high);
}

std::size_t TopTrials(std::size_t trials, double gamma) {
  const double share = std::ceil(gamma * static_cast<double>(trials) - 1e-9);
  return std::clamp<std::size_t>(static_cast<std::size_t>(std::max(share, 1.0)), 1, std::max<std::size_t>(trials, 1));
}

std::vector<double> PedAnova(const std::vector<ImportanceAxis>& axes, const std::vector<double>& losses, double gamma) {
  std::vector<double> divergences;
  for (const ImportanceAxis& axis : axes) divergences.push_back(Divergence(axis, losses, gamma));
  return divergences;
}

std::optional<GridEffects> GridMeans(const std::vector<ImportanceAxis>& axes, const std::vector<double>& losses) {
  if (axes.empty() || losses.empty()) return std::nullopt;
  std::map<std::vector<double>, std::pair<double, std::size_t>> cells;  // sum and number of losses
  std::vector<std::map<double, std::pair<double, std::size_t>>> values(axes.size());
  for (std::size_t i = 0; i < losses.size(); ++i) {
    std::vector<double> cell;
    for (const ImportanceAxis& axis : axes) {
      if (std::isnan(axis.values[i])) return std::nullopt;
      cell.push_back(axis.values[i]);
    }
    auto& [sum, count] = cells[cell];
    sum += losses[i];
    ++count;
  }
  double combinations = 1;
  for (std::size_t k = 0; k < axes.size(); ++k) {
    for (const auto& [cell, unused] : cells) values[k].try_emplace(cell[k]);
    combinations *= static_cast<double>(values[k].size());
  }
  if (combinations != static_cast<double>(cells.size())) return std::nullopt;
  const std::size_t repeats = cells.begin()->second.second;
  double mean = 0;
  for (auto& [cell, sum] : cells) {
    if (sum.second != repeats) return std::nullopt;
    const double own = sum.first / static_cast<double>(repeats);
    mean += own / combinations;
    for (std::size_t k = 0; k < axes.size(); ++k) {
      values[k][cell[k]].first += own;
      ++values[k][cell[k]].second;
    }
  }
  double total = 0;
  std::vector<double> means;
  for (const auto& [cell, sum] : cells) means.push_back(sum.first / static_cast<double>(repeats));
  if (!Vary(means)) return std::nullopt;
  for (const double own : means) total += std::pow(own - mean, 2);
  GridEffects effects;
  effects.interaction = 1;
  for (const auto& of_axis : values) {
    double squares = 0;
    for (const auto& [value, sum] : of_axis) {
      const double count = static_cast<double>(sum.second);
      squares += count * std::pow(sum.first / count - mean, 2);
    }
    effects.shares.push_back(squares / total);
    effects.interaction -= squares / total;
  }
  effects.interaction = std::max(effects.interaction, 0.0);
  return effects;
}

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
  if (losses.size() < kMinTrials) return order;
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
