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
#include <string_view>
#include <unordered_set>
#include <utility>
#include <vector>

#include "space/sampler.h"

namespace muster {
namespace {

constexpr std::uint64_t kMaxTpeTrials = std::uint64_t{1} << 48U;
constexpr std::uint64_t kDrawnResults = 10;  // before them it draws as RandomSampler does
constexpr double kGoodShare = 0.12;          // of the results
constexpr std::size_t kMaxGood = 25;
constexpr std::size_t kMaxOthers = 1000;  // the latest; so a suggestion takes the same time after any number of results
constexpr std::size_t kCandidates = 40;
constexpr std::size_t kMaxRedraws = 16;        // until a draw of a kernel is in the range
constexpr std::size_t kMaxRepeatedDraws = 64;  // until a draw is a new point
constexpr double kMinSpread = 0.2;             // of a kernel of names, over all of them
constexpr double kMostKernels = 100;           // a kernel is no narrower than the range divided by this

// Where a point is in a dimension.
struct Cell {
  bool exists = false;
  bool ordered = true;
  double low = 0;     // the same for all points with this value
  double centre = 0;  // of the coordinates that give the value
  double width = 0;

  bool IsSame(const Cell& other) const { return exists && other.exists && low == other.low; }
};

struct TpeTrial {
  enum class State : std::uint8_t { kOpen, kDone, kFailed, kImpossible };
  Point point = {};
  std::vector<Cell> cells = {};  // by dimension; empty if the space does not have the point
  State state = State::kOpen;
  double loss = 0;  // kDone
};

double NormalBelow(double z) { return 0.5 * std::erfc(-z / std::numbers::sqrt2); }

// A density of points: one kernel for each trial, which is the product of one for each dimension that the trial has,
// and an even one, all of the same weight. Densities of a value are relative to its share of random draws.
class Parzen {
 public:
  Parzen(std::vector<const TpeTrial*> trials, std::size_t dimensions)
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

  std::vector<const TpeTrial*> trials_;
  double log_weight_;
  std::vector<Kernels> kernels_;
};

class TpeSampler final : public Sampler {
 public:
  TpeSampler(const CompiledSpace& space, const SamplerChoice& choice, std::uint64_t all, std::uint64_t most,
             std::unique_ptr<Sampler> drawn)
      : Sampler(space, choice, all, most), drawn_(std::move(drawn)) {
    for (const std::string& dimension : space.dimensions()) numbers_.emplace(dimension, numbers_.size());
  }

  std::vector<Point> Ask(std::uint64_t first, std::uint64_t count) override {
    std::vector<Point> points;
    for (std::uint64_t trial = first; trial < first + count; ++trial) {
      if (trial >= trials_.size()) Recall(trial, {Next(trial)});
      points.push_back(trials_[trial].point);
    }
    return points;
  }
  Point At(std::uint64_t trial) override { return trials_.at(trial).point; }
  bool is_sequence() const override { return false; }
  void Tell(std::uint64_t trial, std::optional<double> loss) override {
    const bool done = loss && std::isfinite(*loss);
    Take(trial, done ? TpeTrial::State::kDone : TpeTrial::State::kFailed, done ? *loss : 0);
  }
  void TellImpossible(std::uint64_t trial) override { Take(trial, TpeTrial::State::kImpossible, 0); }
  void Recall(std::uint64_t first, const std::vector<Point>& points) override {
    if (trials_.size() < first + points.size()) trials_.resize(first + points.size());
    for (std::size_t i = 0; i < points.size(); ++i) {
      trials_[first + i].point = points[i];
      trials_[first + i].cells = CellsOf(points[i]);
      known_.insert(PointText(points[i]));
    }
  }

 private:
  using State = TpeTrial::State;

  std::vector<Cell> CellsOf(const Point& point) const {
    const auto spans = space().Locate(point);
    if (!spans) return {};
    std::vector<Cell> cells(numbers_.size());
    for (const auto& [dimension, span] : *spans) {
      cells[numbers_.at(dimension)] = {true, span.ordered, span.low, (span.low + span.high) / 2, span.high - span.low};
    }
    return cells;
  }

  void Take(std::uint64_t number, State state, double loss) {
    if (number >= trials_.size()) return;
    TpeTrial& trial = trials_[number];
    if (trial.state == State::kDone) ranked_.erase({trial.loss, number});
    if (trial.state == State::kDone || trial.state == State::kFailed) --results_;
    trial.state = state;
    trial.loss = loss;
    if (state == State::kDone || state == State::kFailed) ++results_;
    if (state == State::kDone && !trial.cells.empty()) ranked_.emplace(loss, number);
  }

  double DrawOf(std::uint64_t trial, std::string_view what, std::size_t index, std::string_view dimension = {}) const {
    std::string name = "tpe ";
    name.append(what).append(std::to_string(index)).append(" ").append(dimension);
    return Draw(choice().seed, NumberOf(trial), name);
  }

  bool IsNew(const Point& point) const { return !known_.contains(PointText(point)); }

  Point Next(std::uint64_t trial) {
    if (results_ >= kDrawnResults && !ranked_.empty()) return Suggest(trial);
    Point point = drawn_->At(trial);
    return IsNew(point) ? point : DrawNew(trial);
  }

  // A point that was not tried, as long as there are some.
  Point DrawNew(std::uint64_t trial) {
    for (std::size_t i = 0; i < kMaxRepeatedDraws; ++i) {
      Point point = space().From([&](const std::string& dimension) { return DrawOf(trial, "new ", i, dimension); });
      if (IsNew(point)) return point;
    }
    for (const auto size = space().size(); size && shuffled_ < *size; ++shuffled_) {
      Point point = space().At(Shuffled(shuffled_, *size, choice().seed));
      if (IsNew(point)) return point;
    }
    return drawn_->At(trial);
  }

  // The candidate of those drawn near good points that is the least likely among the others.
  Point Suggest(std::uint64_t trial) {
    const auto [good, others] = Densities();
    std::optional<Point> best;
    double best_score = 0;
    for (std::size_t i = 0; i < kCandidates; ++i) {
      const auto kernel = static_cast<std::size_t>(DrawOf(trial, "kernel ", i) * static_cast<double>(good.size() + 1));
      Point point = space().From(
          [&, &near = good](const std::string& dimension) { return DrawNear(near, kernel, trial, i, dimension); });
      const std::vector<Cell> cells = CellsOf(point);
      if (cells.empty() || !IsNew(point)) continue;
      const double score = good.LogDensity(cells) - others.LogDensity(cells);
      if (best && score <= best_score) continue;
      best = std::move(point);
      best_score = score;
    }
    return best ? *std::move(best) : DrawNew(trial);
  }

  // The best results, and among the others those of each name that the best do not have, so that none is forgotten; and
  // the others, with trials that failed or run.
  std::pair<Parzen, Parzen> Densities() const {
    const auto share = static_cast<std::size_t>(std::ceil(kGoodShare * static_cast<double>(results_)));
    std::vector<const TpeTrial*> good;
    for (const auto& [loss, number] : ranked_) {
      if (good.size() == std::min(share, kMaxGood)) break;
      good.push_back(&trials_[number]);
    }
    std::set<const TpeTrial*> chosen(good.begin(), good.end());
    std::vector<const TpeTrial*> others;
    for (auto trial = trials_.rbegin(); trial != trials_.rend() && others.size() < kMaxOthers; ++trial) {
      if (trial->state != State::kImpossible && !trial->cells.empty() && !chosen.contains(&*trial)) {
        others.push_back(&*trial);
      }
    }
    std::vector<const TpeTrial*> of_other_names = BestOfOtherNames(good, others);
    if (of_other_names.size() > good.size()) of_other_names.resize(good.size());
    good.insert(good.end(), of_other_names.begin(), of_other_names.end());
    chosen.insert(of_other_names.begin(), of_other_names.end());
    std::erase_if(others, [&](const TpeTrial* trial) { return chosen.contains(trial); });
    return {Parzen(std::move(good), numbers_.size()), Parzen(std::move(others), numbers_.size())};
  }

  // Best first.
  std::vector<const TpeTrial*> BestOfOtherNames(const std::vector<const TpeTrial*>& good,
                                                const std::vector<const TpeTrial*>& others) const {
    std::vector<const TpeTrial*> best;
    for (std::size_t d = 0; d < numbers_.size(); ++d) {
      std::map<double, const TpeTrial*> by_name;  // the best; null: the good ones have it
      for (const TpeTrial* trial : good) {
        if (trial->cells[d].exists && !trial->cells[d].ordered) by_name.emplace(trial->cells[d].low, nullptr);
      }
      for (const TpeTrial* trial : others) {
        if (trial->state != State::kDone || !trial->cells[d].exists || trial->cells[d].ordered) continue;
        const auto [known, is_new] = by_name.emplace(trial->cells[d].low, trial);
        if (!is_new && known->second != nullptr && trial->loss < known->second->loss) known->second = trial;
      }
      for (const auto& [low, trial] : by_name) {
        if (trial != nullptr && std::find(best.begin(), best.end(), trial) == best.end()) best.push_back(trial);
      }
    }
    std::stable_sort(best.begin(), best.end(),
                     [](const TpeTrial* one, const TpeTrial* other) { return one->loss < other->loss; });
    return best;
  }

  // A coordinate of candidate `i`, from this kernel; the one behind the last is even.
  double DrawNear(const Parzen& good, std::size_t kernel, std::uint64_t trial, std::size_t i,
                  const std::string& dimension) const {
    const double even = DrawOf(trial, "even ", i, dimension);
    const std::size_t d = numbers_.at(dimension);
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

  std::unique_ptr<Sampler> drawn_;
  std::map<std::string, std::size_t, std::less<>> numbers_;  // of the dimensions
  std::vector<TpeTrial> trials_;
  std::set<std::pair<double, std::uint64_t>> ranked_;  // losses of trials that are done
  std::uint64_t results_ = 0;                          // done or failed
  std::unordered_set<std::string> known_;              // points
  std::uint64_t shuffled_ = 0;                         // places of the order of Shuffled() without new points
};

}  // namespace

Result<std::unique_ptr<Sampler>> MakeTpeSampler(const CompiledSpace& space, const SamplerChoice& choice) {
  SamplerChoice random = choice;
  random.kind = SamplerChoice::Kind::kRandom;
  auto drawn = Sampler::Of(space, random);
  if (!drawn) return drawn;
  const auto size = space.size();
  const std::uint64_t trials = choice.trials.value_or(size.value_or(0));
  return std::make_unique<TpeSampler>(space, choice, size ? std::min(*size, trials) : trials,
                                      size.value_or(kMaxTpeTrials), *std::move(drawn));
}

}  // namespace muster
