#include "space/regret_bound.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numbers>
#include <string>
#include <utility>

#include "space/gaussian_process.h"
#include "space/gp_inputs.h"
#include "space/sampler.h"

namespace muster {
namespace {

constexpr std::size_t kRegretDraws = 512;
constexpr std::size_t kRegretNear = 256;
constexpr std::size_t kRegretBest = 8;
constexpr double kRegretEnd = 1 - 1e-9;  // of a coordinate

using Dimensions = std::map<std::string, std::size_t>;

// By the numbers of the dimensions; empty if the space does not have the point.
std::vector<Cell> CellsOf(const CompiledSpace& space, const Dimensions& dimensions, const Point& point) {
  const auto spans = space.Locate(point);
  if (!spans) return {};
  std::vector<Cell> cells(dimensions.size());
  for (const auto& [name, span] : *spans) {
    cells[dimensions.at(name)] = {true, span.ordered, span.low, (span.low + span.high) / 2, span.high - span.low};
  }
  return cells;
}

// With a probability of 0.9 all values are within √β deviations (Srinivas et al. 2012), a fifth of β as in its
// experiments and in those of the paper.
double WidthOf(std::size_t dimensions, std::size_t results) {
  constexpr double kDelta = 0.1;
  const double n = static_cast<double>(results) * std::numbers::pi;
  const double beta = 2 * std::log(static_cast<double>(dimensions) * n * n / (6 * kDelta)) / 5;
  return std::sqrt(std::max(beta, 0.0));
}

}  // namespace

std::optional<RegretBound> RegretBoundOf(const CompiledSpace& space, const std::vector<KnownLoss>& results,
                                         std::optional<double> variance) {
  Dimensions dimensions;
  for (const std::string& name : space.dimensions()) dimensions.emplace(name, dimensions.size());
  if (dimensions.empty() || dimensions.size() > kMaxGpAxes || results.size() > kMaxGpResults) return std::nullopt;

  struct Located {
    LearnedTrial trial;
    double loss = 0;
    double repeats = 1;
  };
  std::vector<Located> located;
  for (const KnownLoss& known : results) {
    std::vector<Cell> cells = CellsOf(space, dimensions, known.point);
    if (cells.empty() || !std::isfinite(known.loss)) continue;
    located.push_back({{.cells = std::move(cells)}, known.loss, static_cast<double>(known.repeats)});
  }
  if (located.size() < kMinRegretResults) return std::nullopt;
  std::stable_sort(located.begin(), located.end(), [](const auto& a, const auto& b) { return a.loss < b.loss; });
  if (located.front().loss == located.back().loss) return std::nullopt;

  std::vector<const LearnedTrial*> trials;
  std::vector<double> losses;
  std::vector<double> repeats;
  for (const Located& one : located) {
    trials.push_back(&one.trial);
    losses.push_back(one.loss);
    repeats.push_back(one.repeats);
  }
  CompressWorse(losses);
  const double deviation = Standardise(losses).deviation;
  const RowsOf rows_of(trials, dimensions.size());
  GpRows all = rows_of.Empty();
  for (const LearnedTrial* trial : trials) rows_of.Add(trial->cells, all.numbers);
  GpRows fitted = rows_of.Empty();
  std::vector<double> fitted_losses;
  for (const std::size_t at : FittedPlaces(trials.size())) {
    rows_of.Add(trials[at]->cells, fitted.numbers);
    fitted_losses.push_back(losses[at]);
  }
  GpScales scales = FitScales(fitted, fitted_losses);
  if (variance) scales.noise = std::max(*variance / (deviation * deviation), kLeastGpNoise);
  const double noise = scales.noise;
  const GaussianProcess process(all, losses, std::move(scales), repeats);

  // The least upper bound at the results, and the least lower one there and elsewhere.
  const double width = WidthOf(dimensions.size(), located.size());
  GpRows elsewhere = rows_of.Empty();
  const auto add = [&](const std::map<std::string, double>& at) {
    const Point point = space.From([&](const std::string& dimension) { return at.at(dimension); });
    if (const auto cells = CellsOf(space, dimensions, point); !cells.empty()) rows_of.Add(cells, elsewhere.numbers);
  };
  std::map<std::string, double> at;
  for (std::size_t i = 0; i < kRegretDraws; ++i) {
    for (const auto& [name, d] : dimensions) at[name] = Draw(0, i, "regret " + name);
    add(at);
  }
  for (std::size_t i = 0; i < kRegretNear; ++i) {
    const std::vector<Cell>& near = trials[i % std::min(kRegretBest, trials.size())]->cells;
    const double by = std::ldexp(0.25, -static_cast<int>(i / kRegretBest % 6));
    for (const auto& [name, d] : dimensions) {
      const double draw = Draw(0, kRegretDraws + i, "regret " + name);
      at[name] = near[d].exists ? std::clamp(near[d].centre + by * (2 * draw - 1), 0.0, kRegretEnd) : draw;
    }
    add(at);
  }
  const auto known = process.At(all);
  double upper = known.front().mean + width * known.front().deviation;
  double lower = upper;
  for (const auto& [mean, its_deviation] : known) {
    upper = std::min(upper, mean + width * its_deviation);
    lower = std::min(lower, mean - width * its_deviation);
  }
  for (const auto& [mean, its_deviation] : process.At(elsewhere)) lower = std::min(lower, mean - width * its_deviation);

  RegretBound bound;
  bound.results = located.size();
  bound.bound = (upper - lower) * deviation;
  bound.noise = std::sqrt(noise / repeats.front()) * deviation;
  bound.repeated = variance.has_value();
  return bound;
}

}  // namespace muster
