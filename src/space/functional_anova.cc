#include "space/functional_anova.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

#include "space/sampler.h"

namespace muster {
namespace {

constexpr std::size_t kTrees = 64;
constexpr std::size_t kMinLeaf = 2;  // trials of a leaf
constexpr std::size_t kMaxDepth = 24;
constexpr std::size_t kMaxTrials = 4000;  // that a tree is grown from
constexpr std::size_t kMaxPairAxes = 12;  // of which pairs are looked at: the most important ones
constexpr double kLeastPairShare = 0.01;  // of a pair that is listed

// A box of the unit cube, by dimension, and the mean of the trials in it.
struct Leaf {
  std::vector<std::pair<double, double>> sides;
  double value = 0;
  double volume = 1;
};

struct Rows {
  std::size_t dimensions = 0;
  std::vector<std::vector<double>> coordinates;  // by trial
  std::vector<double> losses;
};

// A tree over a bootstrap sample. Splits are between values of the coordinates, of the dimension that reduces the
// variance the most.
class Tree {
 public:
  Tree(const Rows& rows, std::uint64_t seed, std::uint64_t tree) : rows_(rows) {
    const std::size_t count = rows.losses.size();
    std::vector<std::size_t> sample;
    for (std::size_t i = 0; i < std::min(count, kMaxTrials); ++i) {
      const double draw = Draw(seed, tree * kMaxTrials + i, "importance");
      sample.push_back(static_cast<std::size_t>(draw * static_cast<double>(count)));
    }
    Grow(std::move(sample), std::vector<std::pair<double, double>>(rows.dimensions, {0, 1}), 0);
  }

  const std::vector<Leaf>& leaves() const { return leaves_; }

 private:
  struct Split {
    std::size_t dimension = 0;
    double at = 0;
    double gain = 0;
  };

  void Grow(std::vector<std::size_t> sample, std::vector<std::pair<double, double>> sides, std::size_t depth) {
    const Split split = depth < kMaxDepth ? BestSplit(sample) : Split();
    if (split.gain <= 0) {
      Leaf leaf{std::move(sides)};
      for (const std::size_t row : sample) leaf.value += rows_.losses[row] / static_cast<double>(sample.size());
      for (const auto& [low, high] : leaf.sides) leaf.volume *= high - low;
      leaves_.push_back(std::move(leaf));
      return;
    }
    std::vector<std::size_t> below;
    std::vector<std::size_t> above;
    for (const std::size_t row : sample) {
      (rows_.coordinates[row][split.dimension] < split.at ? below : above).push_back(row);
    }
    auto upper = sides;
    sides[split.dimension].second = split.at;
    upper[split.dimension].first = split.at;
    Grow(std::move(below), std::move(sides), depth + 1);
    Grow(std::move(above), std::move(upper), depth + 1);
  }

  Split BestSplit(const std::vector<std::size_t>& sample) const {
    Split best;
    if (sample.size() < 2 * kMinLeaf) return best;
    const double count = static_cast<double>(sample.size());
    double all = 0;
    for (const std::size_t row : sample) all += rows_.losses[row];
    std::vector<std::size_t> order = sample;
    for (std::size_t d = 0; d < rows_.dimensions; ++d) {
      const auto at = [&](std::size_t row) { return rows_.coordinates[row][d]; };
      std::sort(order.begin(), order.end(), [&](std::size_t one, std::size_t other) {
        return at(one) != at(other) ? at(one) < at(other) : one < other;
      });
      double sum = 0;
      for (std::size_t i = 0; i + 1 < order.size(); ++i) {
        sum += rows_.losses[order[i]];
        const std::size_t below = i + 1;
        if (at(order[i]) == at(order[i + 1]) || below < kMinLeaf || order.size() - below < kMinLeaf) continue;
        const double left = static_cast<double>(below);
        const double gain = sum * sum / left + (all - sum) * (all - sum) / (count - left) - all * all / count;
        if (gain > best.gain + 1e-12) best = {d, (at(order[i]) + at(order[i + 1])) / 2, gain};
      }
    }
    return best;
  }

  const Rows& rows_;
  std::vector<Leaf> leaves_;
};

// The analysis of variance of a tree's function, which is exact: it is constant in each box.
class TreeVariance {
 public:
  explicit TreeVariance(const std::vector<Leaf>& leaves) : leaves_(leaves) {
    for (const Leaf& leaf : leaves) mean_ += leaf.volume * leaf.value;
    for (const Leaf& leaf : leaves) all_ += leaf.volume * (leaf.value - mean_) * (leaf.value - mean_);
  }

  double all() const { return all_; }

  // Of the mean over all other dimensions.
  double Of(std::size_t d) const {
    const std::vector<double> ends = EndsOf(d);
    std::vector<double> means(ends.size() - 1, 0.0);
    for (const Leaf& leaf : leaves_) {
      const auto [low, high] = leaf.sides[d];
      const double weight = leaf.value * leaf.volume / (high - low);
      for (std::size_t i = Place(ends, low); i + 1 < ends.size() && ends[i] < high; ++i) means[i] += weight;
    }
    double variance = 0;
    for (std::size_t i = 0; i < means.size(); ++i) {
      variance += (ends[i + 1] - ends[i]) * (means[i] - mean_) * (means[i] - mean_);
    }
    return variance;
  }

  // Of the mean over all others than both.
  double Of(std::size_t d, std::size_t e) const {
    const std::vector<double> ends = EndsOf(d);
    const std::vector<double> others = EndsOf(e);
    std::vector<double> means((ends.size() - 1) * (others.size() - 1), 0.0);
    for (const Leaf& leaf : leaves_) {
      const auto [low, high] = leaf.sides[d];
      const auto [from, to] = leaf.sides[e];
      const double weight = leaf.value * leaf.volume / (high - low) / (to - from);
      for (std::size_t i = Place(ends, low); i + 1 < ends.size() && ends[i] < high; ++i) {
        for (std::size_t k = Place(others, from); k + 1 < others.size() && others[k] < to; ++k) {
          means[i * (others.size() - 1) + k] += weight;
        }
      }
    }
    double variance = 0;
    for (std::size_t i = 0; i + 1 < ends.size(); ++i) {
      for (std::size_t k = 0; k + 1 < others.size(); ++k) {
        const double difference = means[i * (others.size() - 1) + k] - mean_;
        variance += (ends[i + 1] - ends[i]) * (others[k + 1] - others[k]) * difference * difference;
      }
    }
    return variance;
  }

 private:
  std::vector<double> EndsOf(std::size_t d) const {
    std::vector<double> ends = {0, 1};
    for (const Leaf& leaf : leaves_) ends.push_back(leaf.sides[d].first);
    std::sort(ends.begin(), ends.end());
    ends.erase(std::unique(ends.begin(), ends.end()), ends.end());
    return ends;
  }
  static std::size_t Place(const std::vector<double>& ends, double low) {
    return static_cast<std::size_t>(std::lower_bound(ends.begin(), ends.end(), low) - ends.begin());
  }

  const std::vector<Leaf>& leaves_;
  double mean_ = 0;
  double all_ = 0;
};

// By number of the trial: the mean of the ranks of equal losses, from 0 to 1.
std::vector<double> RanksOf(const std::vector<double>& losses) {
  std::vector<std::size_t> order(losses.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(), [&](std::size_t one, std::size_t other) {
    return losses[one] != losses[other] ? losses[one] < losses[other] : one < other;
  });
  std::vector<double> ranks(losses.size());
  for (std::size_t i = 0; i < order.size();) {
    std::size_t end = i;
    while (end < order.size() && losses[order[end]] == losses[order[i]]) ++end;
    for (std::size_t k = i; k < end; ++k) ranks[order[k]] = static_cast<double>(i + end - 1) / 2;
    i = end;
  }
  for (double& rank : ranks) rank /= static_cast<double>(std::max<std::size_t>(1, losses.size() - 1));
  return ranks;
}

}  // namespace

std::optional<Importance> ImportanceOf(const CompiledSpace& space, const std::vector<std::pair<Point, double>>& results,
                                       std::uint64_t seed) {
  const std::vector<std::string>& names = space.dimensions();
  std::map<std::string, std::size_t> numbers;
  for (std::size_t d = 0; d < names.size(); ++d) numbers.emplace(names[d], d);
  Rows rows;
  rows.dimensions = names.size();
  std::vector<std::size_t> having(names.size(), 0);
  std::vector<double> losses;
  for (const auto& [point, loss] : results) {
    const auto spans = space.Locate(point);
    if (!spans || !std::isfinite(loss)) continue;
    std::vector<double>& row = rows.coordinates.emplace_back(names.size(), 0.5);
    for (const auto& [name, span] : *spans) {
      const std::size_t d = numbers.at(name);
      row[d] = (span.low + span.high) / 2;
      ++having[d];
    }
    losses.push_back(loss);
  }
  if (losses.size() < kMinImportanceTrials) return std::nullopt;
  rows.losses = RanksOf(losses);
  if (std::all_of(losses.begin(), losses.end(), [&](double loss) { return loss == losses.front(); })) {
    return std::nullopt;
  }

  std::vector<Tree> trees;
  std::vector<std::vector<double>> shares(names.size());  // by dimension and tree
  for (std::uint64_t tree = 0; tree < kTrees; ++tree) {
    Tree grown(rows, seed, tree);
    const TreeVariance variance(grown.leaves());
    if (!(variance.all() > 0)) continue;
    for (std::size_t d = 0; d < names.size(); ++d) shares[d].push_back(variance.Of(d) / variance.all());
    trees.push_back(std::move(grown));
  }
  if (trees.empty()) return std::nullopt;
  const double count = static_cast<double>(trees.size());
  Importance importance;
  importance.trials = losses.size();
  importance.rest = 1;
  for (std::size_t d = 0; d < names.size(); ++d) {
    const double mean = std::accumulate(shares[d].begin(), shares[d].end(), 0.0) / count;
    double squares = 0;
    for (const double share : shares[d]) squares += (share - mean) * (share - mean) / count;
    importance.axes.push_back({names[d], mean, std::sqrt(squares), having[d]});
    importance.rest -= mean;
  }
  std::stable_sort(importance.axes.begin(), importance.axes.end(),
                   [](const AxisImportance& one, const AxisImportance& other) { return one.share > other.share; });
  const std::size_t looked_at = std::min(kMaxPairAxes, importance.axes.size());
  for (std::size_t i = 0; i < looked_at; ++i) {
    for (std::size_t k = i + 1; k < looked_at; ++k) {
      const std::size_t d = numbers.at(importance.axes[i].name);
      const std::size_t e = numbers.at(importance.axes[k].name);
      double share = 0;
      for (std::size_t t = 0; t < trees.size(); ++t) {
        const TreeVariance variance(trees[t].leaves());
        share += (variance.Of(d, e) / variance.all() - shares[d][t] - shares[e][t]) / count;
      }
      if (share < kLeastPairShare) continue;
      importance.pairs.push_back({names[d], names[e], share});
      importance.rest -= share;
    }
  }
  std::stable_sort(importance.pairs.begin(), importance.pairs.end(),
                   [](const PairImportance& one, const PairImportance& other) { return one.share > other.share; });
  importance.rest = std::max(0.0, importance.rest);
  for (AxisImportance& axis : importance.axes) axis.name = space.LabelOf(axis.name);
  for (PairImportance& pair : importance.pairs) {
    pair.one = space.LabelOf(pair.one);
    pair.other = space.LabelOf(pair.other);
  }
  return importance;
}

}  // namespace muster
