// Points where a Gaussian process expects the greatest improvement (Jones et al.: Efficient Global Optimization of
// Expensive Black-Box Functions, 1998; as GPSampler of Optuna does, with the kernels of names and of missing axes
// here).
#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <map>
#include <memory>
#include <numbers>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "space/gaussian_process.h"
#include "space/learning_sampler.h"

namespace muster {
namespace {

constexpr std::size_t kMaxFitted = 150;   // results that the lengths are fitted to
constexpr std::size_t kMaxPending = 200;  // the latest trials without a result
constexpr std::size_t kMaxImpossible = 200;
constexpr std::size_t kFarCandidates = 256;   // anywhere
constexpr std::size_t kNearCandidates = 160;  // near good results
constexpr std::size_t kNearResults = 8;
constexpr std::size_t kClimbs = 4;  // candidates that are improved
constexpr std::size_t kClimbSteps = 30;
constexpr std::size_t kRounds = 3;       // of a climb: along numbers, then over other values
constexpr std::size_t kMostListed = 12;  // values of a discrete axis; of more, some
constexpr double kEnd = 1 - 1e-9;        // of a coordinate

// Numbers for one trial, all of which depend on it and the seed only.
class Stream {
 public:
  explicit Stream(double draw) : state_(static_cast<std::uint64_t>(draw * 0x1p53)) {}
  double Next() {  // SplitMix64
    state_ += 0x9e3779b97f4a7c15U;
    std::uint64_t x = state_;
    x = (x ^ (x >> 30U)) * 0xbf58476d1ce4e5b9U;
    x = (x ^ (x >> 27U)) * 0x94d049bb133111ebU;
    return static_cast<double>((x ^ (x >> 31U)) >> 11U) * 0x1p-53;
  }
  double Normal() {
    const double one = Next();
    return std::sqrt(-2 * std::log1p(-one)) * std::cos(2 * std::numbers::pi * Next());
  }

 private:
  std::uint64_t state_;
};

// Points as numbers for the process: an ordered dimension is its coordinate, an unordered one has a number for each
// name that a trial has and one for all others. A dimension that a point does not have is in the middle of all its
// values, so that all those at one place of the others are equally far from it.
class RowsOf {
 public:
  RowsOf(const std::vector<const LearnedTrial*>& trials, std::size_t dimensions) : columns_(dimensions) {
    for (const LearnedTrial* trial : trials) {
      for (std::size_t d = 0; d < dimensions; ++d) {
        const Cell& cell = trial->cells[d];
        if (cell.exists && !cell.ordered) columns_[d].names.emplace(cell.low, 0);
      }
    }
    for (std::size_t d = 0; d < dimensions; ++d) {
      columns_[d].first = dimension_of_.size();
      std::size_t name = 0;
      for (auto& [low, number] : columns_[d].names) number = name++;
      dimension_of_.insert(dimension_of_.end(), columns_[d].names.empty() ? 1 : name + 1, d);
    }
  }

  GpRows Empty() const { return {dimension_of_}; }
  std::size_t width() const { return dimension_of_.size(); }
  std::size_t ColumnOf(std::size_t dimension) const { return columns_[dimension].first; }
  std::size_t DimensionOf(std::size_t column) const { return dimension_of_[column]; }
  void Add(const std::vector<Cell>& cells, std::vector<double>& numbers) const {
    const std::size_t first = numbers.size();
    numbers.resize(first + dimension_of_.size(), 0.0);
    for (std::size_t d = 0; d < cells.size(); ++d) {
      const Column& column = columns_[d];
      double* number = &numbers[first + column.first];
      if (column.names.empty()) {
        *number = cells[d].exists ? cells[d].centre : 0.5;
      } else if (cells[d].exists) {
        const auto name = column.names.find(cells[d].low);
        number[name == column.names.end() ? column.names.size() : name->second] = std::numbers::sqrt2 / 2;
      }
    }
  }

 private:
  struct Column {
    std::size_t first = 0;
    std::map<double, std::size_t> names = {};
  };
  std::vector<Column> columns_;
  std::vector<std::size_t> dimension_of_;
};

// Of the worse half, distances from the middle grow as their logarithm: how bad a bad result is would otherwise hide
// the differences among the good ones, in losses over several powers of ten.
void CompressWorse(std::vector<double>& losses) {
  if (losses.empty()) return;
  std::vector<double> sorted = losses;
  std::sort(sorted.begin(), sorted.end());
  const double middle = sorted[sorted.size() / 2];
  const double scale = middle - sorted.front();
  if (!(scale > 0)) return;
  for (double& loss : losses) {
    if (loss > middle) loss = middle + scale * std::log1p((loss - middle) / scale);
  }
}

// Losses with mean 0 and variance 1, the bad ones compressed; of a trial that failed, the worst.
std::vector<double> Standardised(const std::vector<const LearnedTrial*>& trials) {
  double worst = -std::numeric_limits<double>::infinity();
  for (const LearnedTrial* trial : trials) {
    if (trial->state == LearnedTrial::State::kDone) worst = std::max(worst, trial->loss);
  }
  std::vector<double> losses;
  for (const LearnedTrial* trial : trials) {
    losses.push_back(trial->state == LearnedTrial::State::kDone ? trial->loss : worst);
  }
  CompressWorse(losses);
  double mean = 0;
  for (const double loss : losses) mean += loss / static_cast<double>(losses.size());
  double variance = 0;
  for (const double loss : losses) variance += (loss - mean) * (loss - mean) / static_cast<double>(losses.size());
  const double deviation = variance > 0 && std::isfinite(variance) ? std::sqrt(variance) : 1;
  for (double& loss : losses) loss = (loss - mean) / deviation;
  return losses;
}

// Losses by their standardised numbers: between those of results, and along the line of the best half beyond them.
class LossScale {
 public:
  LossScale(const std::vector<const LearnedTrial*>& trials, const std::vector<double>& standardised) {
    for (std::size_t i = 0; i < trials.size(); ++i) {
      if (trials[i]->state == LearnedTrial::State::kDone) known_.emplace(standardised[i], trials[i]->loss);
    }
    if (known_.size() < 2) return;
    auto middle = known_.begin();
    std::advance(middle, std::max<std::size_t>(1, known_.size() / 2 - 1));
    slope_ = (middle->second - known_.begin()->second) / (middle->first - known_.begin()->first);
  }

  double slope() const { return slope_; }
  double LossOf(double number) const {
    const auto after = known_.lower_bound(number);
    if (after == known_.begin()) return after->second + (number - after->first) * slope_;
    const auto before = std::prev(after);
    const double slope =
        after == known_.end() ? slope_ : (after->second - before->second) / (after->first - before->first);
    return before->second + (number - before->first) * slope;
  }

 private:
  std::map<double, double> known_;
  double slope_ = 1;
};

// How good a place is: the logarithm of the expected improvement, and of the chance that the recipe's checks allow it.
class Expectation {
 public:
  Expectation(GaussianProcess losses, std::optional<GaussianProcess> allowed)
      : losses_(std::move(losses)), allowed_(std::move(allowed)), best_(losses_.least_mean()) {}

  std::vector<double> At(const GpRows& rows) const {
    std::vector<double> scores;
    for (const auto& [mean, deviation] : losses_.At(rows)) {
      scores.push_back(LogImprovementOf((best_ - mean) / deviation).value + std::log(deviation));
    }
    if (!allowed_) return scores;
    std::size_t i = 0;
    for (const auto& [mean, deviation] : allowed_->At(rows)) {
      scores[i++] += LogNormalBelow(mean / (deviation + kDoubt)).value;
    }
    return scores;
  }

  double At(const std::vector<double>& row, std::vector<double>& slope) const {
    std::vector<double> mean_slope;
    std::vector<double> deviation_slope;
    const auto [mean, deviation] = losses_.At(row, mean_slope, deviation_slope);
    const double z = (best_ - mean) / deviation;
    const Sloped improvement = LogImprovementOf(z);
    slope.resize(row.size());
    for (std::size_t i = 0; i < row.size(); ++i) {
      slope[i] = (deviation_slope[i] - improvement.slope * (mean_slope[i] + z * deviation_slope[i])) / deviation;
    }
    double score = improvement.value + std::log(deviation);
    if (!allowed_) return score;
    const auto allowed = allowed_->At(row, mean_slope, deviation_slope);
    const double allowed_z = allowed.mean / (allowed.deviation + kDoubt);
    const Sloped chance = LogNormalBelow(allowed_z);
    for (std::size_t i = 0; i < row.size(); ++i) {
      slope[i] += chance.slope * (mean_slope[i] - allowed_z * deviation_slope[i]) / (allowed.deviation + kDoubt);
    }
    return score + chance.value;
  }

 private:
  static constexpr double kDoubt = 0.1;  // even beside a point that is known

  GaussianProcess losses_;
  std::optional<GaussianProcess> allowed_;
  double best_;
};

class GpSampler final : public LearningSampler {
 public:
  GpSampler(const CompiledSpace& space, const SamplerChoice& choice, std::unique_ptr<Sampler> drawn,
            std::unique_ptr<Sampler> tpe)
      : LearningSampler(space, choice, std::move(drawn)), tpe_(std::move(tpe)) {}

  void Tell(std::uint64_t trial, std::optional<double> loss) override {
    if (trial < trials().size()) reports_.emplace_back(trial, loss);
    LearningSampler::Tell(trial, loss);
    tpe_->Tell(trial, loss);
  }
  void TellImpossible(std::uint64_t trial) override {
    LearningSampler::TellImpossible(trial);
    tpe_->TellImpossible(trial);
  }
  void Recall(std::uint64_t first, const std::vector<Point>& points) override {
    LearningSampler::Recall(first, points);
    tpe_->Recall(first, points);
  }
  SuggestedPoint Explain(std::uint64_t trial) override {
    return LeavesItToTpe() ? tpe_->Explain(trial) : LearningSampler::Explain(trial);
  }

 private:
  using Trials = std::vector<const LearnedTrial*>;

  bool LeavesItToTpe() const { return dimensions().size() > kMaxGpAxes || results() > kMaxGpResults; }

  void Describe(SuggestedPoint& suggestion) override {
    const std::vector<Cell> cells = CellsOf(suggestion.point);
    const auto [known, pending, impossible] = KnownTrials();
    if (cells.empty() || known.empty()) return;
    Trials all = known;
    all.insert(all.end(), pending.begin(), pending.end());
    all.insert(all.end(), impossible.begin(), impossible.end());
    const RowsOf rows_of(all, dimensions().size());
    const GaussianProcess losses = LossesOf(rows_of, known, all);
    const LossScale scale(known, Standardised(known));
    GpRows row = rows_of.Empty();
    rows_of.Add(cells, row.numbers);
    const auto [mean, deviation] = losses.At(row).front();
    suggestion.how = SuggestedPoint::How::kProcess;
    suggestion.expected = scale.LossOf(mean);
    suggestion.low = scale.LossOf(mean - deviation);
    suggestion.high = scale.LossOf(mean + deviation);
    suggestion.best = scale.LossOf(losses.least_mean());
    const double z = (losses.least_mean() - mean) / deviation;
    suggestion.improvement = std::exp(LogImprovementOf(z).value) * deviation * scale.slope();
    if (const auto allowed = AllowedOf(rows_of, all, impossible.size())) {
      const auto [label, doubt] = allowed->At(row).front();
      suggestion.allowed = std::exp(LogNormalBelow(label / doubt).value);
    }
    for (const std::string& dimension : space().dimensions()) {
      const std::size_t d = dimensions().at(dimension);
      if (cells[d].exists) suggestion.axes.push_back({dimension, losses.scales().lengths[d]});
    }
    suggestion.near = NearestOf(known, rows_of, row.numbers, losses.scales().lengths);
  }

  std::vector<SuggestedPoint::Near> NearestOf(const Trials& known, const RowsOf& rows_of,
                                              const std::vector<double>& row,
                                              const std::vector<double>& lengths) const {
    constexpr std::size_t kMost = 3;
    std::vector<SuggestedPoint::Near> near;
    for (const LearnedTrial* trial : known) {
      if (trial->state != State::kDone) continue;
      std::vector<double> other;
      rows_of.Add(trial->cells, other);
      double squared = 0;
      for (std::size_t i = 0; i < row.size(); ++i) {
        const double distance = (row[i] - other[i]) / lengths[rows_of.DimensionOf(i)];
        squared += distance * distance;
      }
      const double r = std::sqrt(5 * squared);
      const double correlation = (1 + r + r * r / 3) * std::exp(-r);  // Matérn 5/2
      near.push_back({static_cast<std::uint64_t>(trial - trials().data()), trial->loss, correlation});
    }
    std::stable_sort(near.begin(), near.end(),
                     [](const auto& one, const auto& other) { return one.correlation > other.correlation; });
    if (near.size() > kMost) near.resize(kMost);
    return near;
  }

  struct Place {
    std::vector<double> coordinates;
    Point point;
    std::vector<Cell> cells;
    double score = 0;
  };

  Point Suggest(std::uint64_t trial) override {
    if (LeavesItToTpe()) return tpe_->Ask(trial, 1).front();
    const auto [known, pending, impossible] = KnownTrials();
    Trials all = known;
    all.insert(all.end(), pending.begin(), pending.end());
    all.insert(all.end(), impossible.begin(), impossible.end());
    const RowsOf rows_of(all, dimensions().size());
    const Expectation expectation(LossesOf(rows_of, known, all), AllowedOf(rows_of, all, impossible.size()));
    Stream stream(DrawOf(trial, "candidates ", 0));
    std::vector<Place> places = Candidates(stream, known);
    Score(rows_of, expectation, places);
    std::optional<Place> best;
    std::size_t climbs = 0;
    for (Place& place : places) {
      if (climbs++ == kClimbs) break;
      Climb(rows_of, expectation, stream, place);
      if (IsNew(place.point) && (!best || place.score > best->score)) best = std::move(place);
    }
    for (std::size_t i = kClimbs; !best && i < places.size(); ++i) {
      if (IsNew(places[i].point)) best = std::move(places[i]);
    }
    return best ? std::move(best->point) : DrawNew(trial);
  }

  // Those with results; the latest of those that run, and of those that are impossible.
  std::tuple<Trials, Trials, Trials> KnownTrials() const {
    Trials known;
    Trials pending;
    Trials impossible;
    for (auto trial = trials().rbegin(); trial != trials().rend(); ++trial) {
      if (trial->cells.empty()) continue;
      if (trial->state == State::kDone || trial->state == State::kFailed) {
        known.push_back(&*trial);
      } else if (trial->state == State::kOpen) {
        if (pending.size() < kMaxPending) pending.push_back(&*trial);
      } else if (impossible.size() < kMaxImpossible) {
        impossible.push_back(&*trial);
      }
    }
    return {known, pending, impossible};
  }

  GaussianProcess LossesOf(const RowsOf& rows_of, const Trials& known, const Trials& all) {
    GpRows rows = rows_of.Empty();
    for (const LearnedTrial* trial : all) rows_of.Add(trial->cells, rows.numbers);
    return {std::move(rows), Standardised(known), Scales()};
  }

  // A classification by regression: 1 is possible, -1 is not.
  static std::optional<GaussianProcess> AllowedOf(const RowsOf& rows_of, const Trials& all, std::size_t impossible) {
    if (impossible == 0) return std::nullopt;
    constexpr double kLength = 0.3;
    GpRows rows = rows_of.Empty();
    for (const LearnedTrial* trial : all) rows_of.Add(trial->cells, rows.numbers);
    std::vector<double> labels(all.size(), 1.0);
    std::fill(labels.end() - static_cast<std::ptrdiff_t>(impossible), labels.end(), -1.0);
    const std::size_t dimensions = rows.dimensions();
    return GaussianProcess(std::move(rows), labels, {std::vector<double>(dimensions, kLength), 1, 1e-3});
  }

  // Fitted again only when there are a twentieth more results, to those at that time: a sweep that is resumed then has
  // the same.
  const GpScales& Scales() {
    std::size_t counted = reports_.size();
    counted -= counted % std::max<std::size_t>(1, counted / 20);
    if (fitted_to_ == counted) return scales_;
    fitted_to_ = counted;
    std::map<std::uint64_t, std::optional<double>> last;
    for (std::size_t i = 0; i < counted; ++i) last[reports_[i].first] = reports_[i].second;
    std::vector<LearnedTrial> then;
    for (const auto& [number, loss] : last) {
      if (trials()[number].cells.empty()) continue;
      const bool done = loss && std::isfinite(*loss);
      then.push_back({{}, trials()[number].cells, done ? State::kDone : State::kFailed, done ? *loss : 0});
    }
    Trials fitted;
    for (const LearnedTrial& trial : then) fitted.push_back(&trial);
    const RowsOf rows_of(fitted, dimensions().size());
    const std::vector<double> losses = Standardised(fitted);
    // Of many results the best third of the number fitted to, and evenly chosen others.
    std::vector<std::size_t> order(fitted.size());
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t one, std::size_t other) { return losses[one] < losses[other]; });
    GpRows rows = rows_of.Empty();
    std::vector<double> chosen;
    const std::size_t count = std::min(order.size(), kMaxFitted);
    for (std::size_t i = 0; i < count; ++i) {
      constexpr std::size_t kBest = kMaxFitted / 3;
      const std::size_t at = i < kBest || order.size() <= kMaxFitted
                                 ? i
                                 : kBest + (i - kBest) * (order.size() - kBest) / (kMaxFitted - kBest);
      rows_of.Add(fitted[order[at]]->cells, rows.numbers);
      chosen.push_back(losses[order[at]]);
    }
    scales_ = FitScales(rows, chosen);
    return scales_;
  }

  std::vector<Place> Candidates(Stream& stream, const Trials& known) const {
    std::vector<Place> places;
    const auto add = [&](std::vector<double> coordinates) {
      Place place = PlaceAt(std::move(coordinates));
      if (!place.cells.empty()) places.push_back(std::move(place));
    };
    std::vector<double> coordinates(dimensions().size());
    for (std::size_t i = 0; i < kFarCandidates; ++i) {
      for (double& coordinate : coordinates) coordinate = stream.Next();
      add(coordinates);
    }
    std::vector<const LearnedTrial*> good;
    for (const auto& [loss, number] : ranked()) {
      if (good.size() == kNearResults) break;
      good.push_back(&trials()[number]);
    }
    static_cast<void>(known);
    for (std::size_t i = 0; i < kNearCandidates; ++i) {
      const std::vector<Cell>& cells = good[i % good.size()]->cells;
      const double width = 0.2 * std::pow(0.01, static_cast<double>(i) / kNearCandidates);
      const double share = std::max(0.3, 1.5 / static_cast<double>(cells.size()));
      for (std::size_t d = 0; d < cells.size(); ++d) {
        const double even = stream.Next();
        const double step = width * stream.Normal();
        if (!cells[d].exists) {
          coordinates[d] = even;
        } else if (stream.Next() >= share) {
          coordinates[d] = cells[d].centre;
        } else {
          coordinates[d] = cells[d].ordered ? std::clamp(cells[d].centre + step, 0.0, kEnd) : even;
        }
      }
      add(coordinates);
    }
    return places;
  }

  Place PlaceAt(std::vector<double> coordinates) const {
    Place place;
    place.point =
        space().From([&](const std::string& dimension) { return coordinates[dimensions().find(dimension)->second]; });
    place.cells = CellsOf(place.point);
    place.coordinates = std::move(coordinates);
    return place;
  }

  // Sorts them, best first.
  void Score(const RowsOf& rows_of, const Expectation& expectation, std::vector<Place>& places) const {
    GpRows rows = rows_of.Empty();
    for (const Place& place : places) rows_of.Add(place.cells, rows.numbers);
    const std::vector<double> scores = expectation.At(rows);
    for (std::size_t i = 0; i < places.size(); ++i) places[i].score = scores[i] - DoubtAt(places[i].cells);
    std::stable_sort(places.begin(), places.end(), [](const Place& a, const Place& b) { return a.score > b.score; });
  }

  // What takes long to learn from places nearby: that a combination of discrete values is impossible whatever the
  // others.
  double DoubtAt(const std::vector<Cell>& cells) const {
    constexpr double kByRefusal = 10;
    return kByRefusal * static_cast<double>(RefusalsAt(cells));
  }

  // Moves to a better place nearby: along the axes with any numbers, then over other values of each of the others.
  void Climb(const RowsOf& rows_of, const Expectation& expectation, Stream& stream, Place& place) const {
    for (std::size_t round = 0; round < kRounds; ++round) {
      MoveAlong(rows_of, expectation, place);
      std::vector<Place> others;
      for (std::size_t d = 0; d < place.cells.size(); ++d) {
        for (const double coordinate : OtherValues(place.cells[d], stream)) {
          std::vector<double> coordinates = place.coordinates;
          coordinates[d] = coordinate;
          Place other = PlaceAt(std::move(coordinates));
          if (!other.cells.empty() && IsNew(other.point)) others.push_back(std::move(other));
        }
      }
      if (others.empty()) return;
      Score(rows_of, expectation, others);
      if (IsNew(place.point) && others.front().score <= place.score) return;
      place = std::move(others.front());
    }
  }

  void MoveAlong(const RowsOf& rows_of, const Expectation& expectation, Place& place) const {
    std::vector<std::size_t> moved;
    std::vector<double> start;
    for (std::size_t d = 0; d < place.cells.size(); ++d) {
      if (!place.cells[d].exists || !place.cells[d].ordered || place.cells[d].width > 0) continue;
      moved.push_back(d);
      start.push_back(place.cells[d].centre);
    }
    if (moved.empty()) return;
    std::vector<double> row;
    rows_of.Add(place.cells, row);
    std::vector<double> slope;
    const Minimized function = [&](const std::vector<double>& x, std::vector<double>& gradient) {
      for (std::size_t i = 0; i < moved.size(); ++i) row[rows_of.ColumnOf(moved[i])] = x[i];
      const double score = expectation.At(row, slope);
      gradient.clear();
      for (const std::size_t d : moved) gradient.push_back(-slope[rows_of.ColumnOf(d)]);
      return -score;
    };
    const std::vector<double> end = MinimizeInBox(function, std::move(start), 0, kEnd, kClimbSteps);
    std::vector<double> coordinates = place.coordinates;
    for (std::size_t i = 0; i < moved.size(); ++i) coordinates[moved[i]] = end[i];
    Place there = PlaceAt(std::move(coordinates));
    if (there.cells.empty() || !IsNew(there.point)) return;
    row.clear();
    rows_of.Add(there.cells, row);
    there.score = expectation.At(row, slope) - DoubtAt(there.cells);
    place = std::move(there);
  }

  // Coordinates of other values of a discrete dimension.
  static std::vector<double> OtherValues(const Cell& cell, Stream& stream) {
    std::vector<double> others;
    if (!cell.exists || cell.width == 0 || cell.width >= 1) return others;
    const double count = std::round(1 / cell.width);
    const bool even = std::abs(count * cell.width - 1) < 1e-9;
    if (even && count <= kMostListed) {
      for (double at = cell.width / 2; at < 1; at += cell.width) {
        if (std::abs(at - cell.centre) > cell.width / 2) others.push_back(at);
      }
      return others;
    }
    if (cell.low > 0) others.push_back(cell.low * (1 - 1e-12));
    if (cell.low + cell.width < 1) others.push_back(std::min((cell.low + cell.width) * (1 + 1e-12), kEnd));
    while (others.size() < kMostListed / 2) others.push_back(stream.Next());
    return others;
  }

  std::unique_ptr<Sampler> tpe_;
  std::vector<std::pair<std::uint64_t, std::optional<double>>> reports_;
  std::optional<std::size_t> fitted_to_;
  GpScales scales_;
};

}  // namespace

Result<std::unique_ptr<Sampler>> MakeGpSampler(const CompiledSpace& space, const SamplerChoice& choice) {
  auto drawn = LearningSampler::MakeDraws(space, choice);
  if (!drawn) return drawn;
  SamplerChoice tpe = choice;
  tpe.kind = SamplerChoice::Kind::kTpe;
  auto beyond = Sampler::Of(space, tpe);
  if (!beyond) return beyond;
  return std::make_unique<GpSampler>(space, choice, *std::move(drawn), *std::move(beyond));
}

}  // namespace muster
