// Points near those with good results: a tree-structured Parzen estimator over all dimensions together (Bergstra et
// al.: Algorithms for Hyper-Parameter Optimization, NIPS 2011; with the kernels of Optuna 5, Watanabe: arXiv
// 2304.11127).
#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <numbers>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "space/learning_sampler.h"

namespace muster {
namespace {

constexpr double kGoodShare = 0.12;  // of the results
constexpr std::size_t kMaxGood = 25;
constexpr std::size_t kMaxOthers = 1000;  // the latest; so a suggestion takes the same time after any number of results
constexpr std::size_t kCandidates = 40;
constexpr std::size_t kMaxRedraws = 16;  // until a draw of a kernel is in the range
constexpr double kMinSpread = 0.2;       // of a kernel of names, over all of them
constexpr double kMostKernels = 100;     // a kernel is no narrower than the range divided by this

double NormalBelow(double z) { return 0.5 * std::erfc(-z / std::numbers::sqrt2); }

// A density of points: one kernel for each trial, which is the product of one for each dimension that the trial has,
// and an even one, all of the same weight. Densities of a value are relative to its share of random draws.
class Parzen {
 public:
  Parzen(std::vector<const LearnedTrial*> trials, std::size_t dimensions)
      : trials_(std::move(trials)), log_weight_(-std::log(static_cast<double>(trials_.size() + 1))) {
    for (std::size_t d = 0; d < dimensions; ++d) kernels_.push_back(KernelsOf(d));
  }

  std::size_t size() const { return trials_.size(); }
  const Cell& CellOf(std::size_t kernel, std::size_t dimension) const { return trials_[kernel]->cells[dimension]; }
  // Of an ordered dimension: the standard deviation.
  double WidthOf(std::size_t kernel, std::size_t dimension) const { return 1 / kernels_[dimension].inverse[kernel]; }
  // Of an unordered dimension: the share of a kernel that is spread over all values.
  double SpreadOf(const Cell& cell) const {
    return std::max(kMinSpread, 1 / (1 + static_cast<double>(size() + 1) * cell.width));
  }

  double LogDensity(const std::vector<Cell>& cells) const {
    std::vector<double> logs(size() + 1, 0.0);  // the last is even
    for (std::size_t d = 0; d < cells.size(); ++d) {
      const Cell& cell = cells[d];
      if (!cell.exists) continue;
      const Kernels& kernels = kernels_[d];
      if (cell.ordered) {
        for (std::size_t k = 0; k < size(); ++k) {
          const double z = (cell.centre - kernels.centre[k]) * kernels.inverse[k];
          logs[k] += kernels.log_height[k] - 0.5 * z * z;
        }
        continue;
      }
      const double spread = SpreadOf(cell);
      const double same = std::log((1 - spread) / cell.width + spread);
      const double other = std::log(spread);
      for (std::size_t k = 0; k < size(); ++k) {
        if (CellOf(k, d).exists) logs[k] += cell.IsSame(CellOf(k, d)) ? same : other;
      }
    }
    constexpr double kNegligible = 40;
    const double most = *std::max_element(logs.begin(), logs.end());
    double sum = 0;
    for (const double log : logs) {
      if (log > most - kNegligible) sum += std::exp(log - most);
    }
    return most + std::log(sum) + log_weight_;
  }

 private:
  // Normal distributions within the range; flat for trials that do not have the dimension.
  struct Kernels {
    std::vector<double> centre, inverse, log_height;
  };
  // The standard deviation is the larger gap to a neighbour, of which the middle of the range is one.
  Kernels KernelsOf(std::size_t dimension) const {
    const std::vector<double> zeros(size(), 0.0);
    Kernels kernels{zeros, zeros, zeros};
    std::vector<std::pair<double, std::size_t>> sorted = {{0.5, size()}};
    for (std::size_t k = 0; k < size(); ++k) {
      const Cell& cell = CellOf(k, dimension);
      if (cell.exists && cell.ordered) sorted.emplace_back(cell.centre, k);
    }
    std::sort(sorted.begin(), sorted.end());
    const double least = 1 / std::min(kMostKernels, static_cast<double>(sorted.size() + 1));
    for (std::size_t i = 0; i < sorted.size(); ++i) {
      const auto [x, k] = sorted[i];
      if (k == size()) continue;
      double gap = 0;
      if (i > 0) gap = x - sorted[i - 1].first;
      if (i + 1 < sorted.size()) gap = std::max(gap, sorted[i + 1].first - x);
      const double width = std::clamp(gap, std::max(least, CellOf(k, dimension).width / 2), 1.0);
      const double inside = NormalBelow((1 - x) / width) - NormalBelow(-x / width);
      kernels.centre[k] = x;
      kernels.inverse[k] = 1 / width;
      kernels.log_height[k] = -std::log(width * std::sqrt(2 * std::numbers::pi) * inside);
    }
    return kernels;
  }

  std::vector<const LearnedTrial*> trials_;
  double log_weight_;
  std::vector<Kernels> kernels_;
};

class TpeSampler final : public LearningSampler {
 public:
  TpeSampler(const CompiledSpace& space, const SamplerChoice& choice, std::unique_ptr<Sampler> drawn)
      : LearningSampler(space, choice, std::move(drawn)) {}

 private:
  // The candidate of those drawn near good points that is the least likely among the others.
  Point Suggest(std::uint64_t trial) override {
    const auto [good, others] = Densities();
    const Parzen refused(Impossible(), dimensions().size());
    std::optional<Point> best;
    double best_score = 0;
    for (std::size_t i = 0; i < kCandidates; ++i) {
      const auto kernel = static_cast<std::size_t>(DrawOf(trial, "kernel ", i) * static_cast<double>(good.size() + 1));
      Point point = space().From(
          [&, &near = good](const std::string& dimension) { return DrawNear(near, kernel, trial, i, dimension); });
      const std::vector<Cell> cells = CellsOf(point);
      if (cells.empty() || !IsNew(point)) continue;
      const double score = good.LogDensity(cells) - others.LogDensity(cells) - DoubtAt(refused, others, good, cells);
      if (best && score <= best_score) continue;
      best = std::move(point);
      best_score = score;
    }
    return best ? *std::move(best) : DrawNew(trial);
  }

  void Describe(SuggestedPoint& suggestion) override {
    const std::vector<Cell> cells = CellsOf(suggestion.point);
    if (cells.empty()) return;
    const auto [good, others] = Densities();
    suggestion.how = SuggestedPoint::How::kDensities;
    suggestion.good = good.size();
    suggestion.others = others.size();
    suggestion.ratio = std::exp(good.LogDensity(cells) - others.LogDensity(cells));
    for (const std::string& dimension : space().dimensions()) {
      const std::size_t d = dimensions().at(dimension);
      if (!cells[d].exists) continue;
      std::vector<Cell> alone(cells.size());
      alone[d] = cells[d];
      suggestion.axes.push_back(
          {space().LabelOf(dimension), std::exp(good.LogDensity(alone) - others.LogDensity(alone))});
    }
  }

  // The latest.
  std::vector<const LearnedTrial*> Impossible() const {
    std::vector<const LearnedTrial*> refused;
    if (impossible() == 0) return refused;
    for (auto trial = trials().rbegin(); trial != trials().rend() && refused.size() < kMaxOthers; ++trial) {
      if (trial->state == State::kImpossible && !trial->cells.empty()) refused.push_back(&*trial);
    }
    return refused;
  }

  // By which the score of a place where the recipe refuses points falls: its density of these among all.
  double DoubtAt(const Parzen& refused, const Parzen& others, const Parzen& good,
                 const std::vector<Cell>& cells) const {
    constexpr double kWeight = 3;
    if (refused.size() == 0) return 0;
    const auto mass = [&](const Parzen& density) {
      return static_cast<double>(density.size() + 1) * std::exp(density.LogDensity(cells));
    };
    const double allowed = mass(others) + mass(good);
    return kWeight * std::log1p(mass(refused) / allowed) + static_cast<double>(RefusalsAt(cells));
  }

  // The best results, and among the others those of each name that the best do not have, so that none is forgotten; and
  // the others, with trials that failed or run.
  std::pair<Parzen, Parzen> Densities() const {
    auto share = static_cast<std::size_t>(std::ceil(kGoodShare * static_cast<double>(results())));
    if (has_rungs()) share = std::min(share, (done() + 1) / 2);  // the others have not come so far
    std::vector<const LearnedTrial*> good;
    for (const std::uint64_t number : Best(std::min(share, kMaxGood))) good.push_back(&trials()[number]);
    std::set<const LearnedTrial*> chosen(good.begin(), good.end());
    std::vector<const LearnedTrial*> others;
    for (auto trial = trials().rbegin(); trial != trials().rend() && others.size() < kMaxOthers; ++trial) {
      if (trial->state != State::kImpossible && !trial->cells.empty() && !chosen.contains(&*trial)) {
        others.push_back(&*trial);
      }
    }
    std::vector<const LearnedTrial*> of_other_names = BestOfOtherNames(good, others);
    if (of_other_names.size() > good.size()) of_other_names.resize(good.size());
    good.insert(good.end(), of_other_names.begin(), of_other_names.end());
    chosen.insert(of_other_names.begin(), of_other_names.end());
    std::erase_if(others, [&](const LearnedTrial* trial) { return chosen.contains(trial); });
    return {Parzen(std::move(good), dimensions().size()), Parzen(std::move(others), dimensions().size())};
  }

  // Best first.
  std::vector<const LearnedTrial*> BestOfOtherNames(const std::vector<const LearnedTrial*>& good,
                                                    const std::vector<const LearnedTrial*>& others) const {
    std::vector<const LearnedTrial*> best;
    for (std::size_t d = 0; d < dimensions().size(); ++d) {
      std::map<double, const LearnedTrial*> by_name;  // the best; null: the good ones have it
      for (const LearnedTrial* trial : good) {
        if (trial->cells[d].exists && !trial->cells[d].ordered) by_name.emplace(trial->cells[d].low, nullptr);
      }
      for (const LearnedTrial* trial : others) {
        if (trial->state != State::kDone || !trial->cells[d].exists || trial->cells[d].ordered) continue;
        const auto [known, is_new] = by_name.emplace(trial->cells[d].low, trial);
        if (!is_new && known->second != nullptr && trial->loss < known->second->loss) known->second = trial;
      }
      for (const auto& [low, trial] : by_name) {
        if (trial != nullptr && std::find(best.begin(), best.end(), trial) == best.end()) best.push_back(trial);
      }
    }
    std::stable_sort(best.begin(), best.end(),
                     [](const LearnedTrial* one, const LearnedTrial* other) { return one->loss < other->loss; });
    return best;
  }

  // A coordinate of candidate `i`, from this kernel; the one behind the last is even.
  double DrawNear(const Parzen& good, std::size_t kernel, std::uint64_t trial, std::size_t i,
                  const std::string& dimension) const {
    const double even = DrawOf(trial, "even ", i, dimension);
    const std::size_t d = dimensions().at(dimension);
    if (kernel >= good.size() || !good.CellOf(kernel, d).exists) return even;
    const Cell& cell = good.CellOf(kernel, d);
    if (!cell.ordered) return DrawOf(trial, "same ", i, dimension) < good.SpreadOf(cell) ? even : cell.centre;
    for (std::size_t redraw = i * kMaxRedraws; redraw < (i + 1) * kMaxRedraws; ++redraw) {  // Box and Muller
      const double one = DrawOf(trial, "radius ", redraw, dimension);
      const double two = DrawOf(trial, "angle ", redraw, dimension);
      const double normal = std::sqrt(-2 * std::log1p(-one)) * std::cos(2 * std::numbers::pi * two);
      const double x = cell.centre + good.WidthOf(kernel, d) * normal;
      if (x >= 0 && x < 1) return x;
    }
    return even;
  }
};

}  // namespace

Result<std::unique_ptr<Sampler>> MakeTpeSampler(const CompiledSpace& space, const SamplerChoice& choice) {
  auto drawn = LearningSampler::MakeDraws(space, choice);
  if (!drawn) return drawn;
  return std::make_unique<TpeSampler>(space, choice, *std::move(drawn));
}

}  // namespace muster
