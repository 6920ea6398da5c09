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
#include "space/gp_inputs.h"
#include "space/learning_sampler.h"

namespace muster {
namespace {

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

// Losses, or the second ones, with mean 0 and variance 1, the bad ones compressed; of a trial that failed, the worst.
std::vector<double> Standardised(const std::vector<const LearnedTrial*>& trials, bool second) {
  double worst = -std::numeric_limits<double>::infinity();
  std::vector<std::optional<double>> given;
  for (const LearnedTrial* trial : trials) {
    given.push_back(second ? trial->second : trial->has_result() ? std::optional(trial->loss) : std::nullopt);
    if (given.back()) worst = std::max(worst, *given.back());
  }
  std::vector<double> losses;
  for (const std::optional<double>& loss : given) losses.push_back(loss.value_or(worst));
  CompressWorse(losses);
  Standardise(losses);
  return losses;
}

// Losses by their standardised numbers: between those of results, and along the line of the best half beyond them.
class LossScale {
 public:
  LossScale(const std::vector<const LearnedTrial*>& trials, const std::vector<double>& standardised, bool second) {
    for (std::size_t i = 0; i < trials.size(); ++i) {
      if (trials[i]->state != LearnedTrial::State::kDone) continue;
      const auto loss = second ? trials[i]->second : std::optional(trials[i]->loss);
      if (loss) known_.emplace(standardised[i], *loss);
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

// What a place is expected to improve, as its logarithm, with the gradient by the numbers of its row.
class Improvement {
 public:
  Improvement() = default;
  Improvement(const Improvement&) = delete;
  Improvement& operator=(const Improvement&) = delete;
  virtual ~Improvement() = default;
  virtual std::vector<double> At(const GpRows& rows) const = 0;
  virtual double At(const std::vector<double>& row, std::vector<double>& slope) const = 0;
};

class OfOneLoss final : public Improvement {
 public:
  OfOneLoss(GaussianProcess losses, double best) : losses_(std::move(losses)), best_(best) {}

  std::vector<double> At(const GpRows& rows) const override {
    std::vector<double> scores;
    for (const auto& [mean, deviation] : losses_.At(rows)) {
      scores.push_back(LogImprovementOf((best_ - mean) / deviation).value + std::log(deviation));
    }
    return scores;
  }
  double At(const std::vector<double>& row, std::vector<double>& slope) const override {
    std::vector<double> mean_slope;
    std::vector<double> deviation_slope;
    const auto [mean, deviation] = losses_.At(row, mean_slope, deviation_slope);
    const double z = (best_ - mean) / deviation;
    const Sloped improvement = LogImprovementOf(z);
    slope.resize(row.size());
    for (std::size_t i = 0; i < row.size(); ++i) {
      slope[i] = (deviation_slope[i] - improvement.slope * (mean_slope[i] + z * deviation_slope[i])) / deviation;
    }
    return improvement.value + std::log(deviation);
  }

 private:
  GaussianProcess losses_;
  double best_;
};

// By how much the area grows that the results dominate, up to a corner that is worse than the front (expected
// hypervolume improvement; Emmerich et al. 2006).
class OfTwoLosses final : public Improvement {
 public:
  using Front = std::vector<std::pair<double, double>>;

  // Each of the front is better than the next one in the first loss, and worse in the second.
  OfTwoLosses(GaussianProcess first, GaussianProcess second, const Front& front)
      : first_(std::move(first)), second_(std::move(second)), strips_(front) {}

  std::vector<double> At(const GpRows& rows) const override {
    const auto first = first_.At(rows);
    const auto second = second_.At(rows);
    std::vector<double> scores;
    for (std::size_t i = 0; i < first.size(); ++i) scores.push_back(strips_.At(first[i], second[i]).value);
    return scores;
  }
  double At(const std::vector<double>& row, std::vector<double>& slope) const override {
    std::vector<double> means[2];
    std::vector<double> deviations[2];
    const auto first = first_.At(row, means[0], deviations[0]);
    const auto second = second_.At(row, means[1], deviations[1]);
    const HypervolumeImprovement::Result at = strips_.At(first, second);
    slope.assign(row.size(), 0.0);
    for (std::size_t i = 0; i < row.size(); ++i) {
      for (const std::size_t loss : {0U, 1U}) {
        slope[i] += at.by_mean[loss] * means[loss][i] + at.by_deviation[loss] * deviations[loss][i];
      }
    }
    return at.value;
  }

 private:
  GaussianProcess first_;
  GaussianProcess second_;
  HypervolumeImprovement strips_;
};

// How good a place is: the logarithm of the expected improvement, and of the chances that the recipe's checks allow it
// and that the constraints hold there (Gardner et al.: Bayesian Optimization with Inequality Constraints, ICML 2014).
class Expectation {
 public:
  // That a number is above the bound; `doubt` is a deviation even beside a point that is known.
  struct Chance {
    GaussianProcess of;
    double bound = 0;
    double sign = 1;  // -1: below the bound instead
    double doubt = 0;
  };

  // `improvement`: nothing if the chances alone count.
  Expectation(std::unique_ptr<Improvement> improvement, std::vector<Chance> chances)
      : improvement_(std::move(improvement)), chances_(std::move(chances)) {}

  std::vector<double> At(const GpRows& rows) const {
    std::vector<double> scores = improvement_ ? improvement_->At(rows) : std::vector<double>(rows.size(), 0.0);
    for (const Chance& chance : chances_) {
      std::size_t i = 0;
      for (const auto& [mean, deviation] : chance.of.At(rows)) {
        scores[i++] += LogNormalBelow(chance.sign * (mean - chance.bound) / (deviation + chance.doubt)).value;
      }
    }
    return scores;
  }

  double At(const std::vector<double>& row, std::vector<double>& slope) const {
    std::vector<double> mean_slope;
    std::vector<double> deviation_slope;
    slope.assign(row.size(), 0.0);
    double score = improvement_ ? improvement_->At(row, slope) : 0;
    for (const Chance& chance : chances_) {
      const auto [mean, deviation] = chance.of.At(row, mean_slope, deviation_slope);
      const double z = chance.sign * (mean - chance.bound) / (deviation + chance.doubt);
      const Sloped below = LogNormalBelow(z);
      for (std::size_t i = 0; i < row.size(); ++i) {
        slope[i] += below.slope * (chance.sign * mean_slope[i] - z * deviation_slope[i]) / (deviation + chance.doubt);
      }
      score += below.value;
    }
    return score;
  }

 private:
  std::unique_ptr<Improvement> improvement_;
  std::vector<Chance> chances_;
};

class GpSampler final : public LearningSampler {
 public:
  GpSampler(const CompiledSpace& space, const SamplerChoice& choice, std::unique_ptr<Sampler> drawn,
            std::unique_ptr<Sampler> tpe)
      : LearningSampler(space, choice, std::move(drawn)), tpe_(std::move(tpe)) {}

  void Tell(std::uint64_t trial, const TrialResult& result) override {
    if (trial < trials().size()) reports_.push_back({trial, LearnedTrial::kWhole, result});
    LearningSampler::Tell(trial, result);
    tpe_->Tell(trial, result);
  }
  void TellRung(std::uint64_t trial, std::uint64_t rung, double loss) override {
    if (trial < trials().size()) reports_.push_back({trial, rung, loss});
    LearningSampler::TellRung(trial, rung, loss);
    tpe_->TellRung(trial, rung, loss);
  }
  void TellStopped(std::uint64_t trial, const TrialResult& result) override {
    if (!has_rungs()) return Tell(trial, result);
    if (trial < trials().size() && !result.excess.empty()) {
      TrialResult without_loss = result;
      without_loss.loss.reset();
      reports_.push_back({trial, LearnedTrial::kWhole, without_loss});
    }
    LearningSampler::TellStopped(trial, result);
    tpe_->TellStopped(trial, result);
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

  struct Reported {
    std::uint64_t trial = 0;
    std::uint64_t level = LearnedTrial::kWhole;
    TrialResult result;
  };
  bool LeavesItToTpe() const { return dimensions().size() > kMaxGpAxes || results() > kMaxGpResults; }

  void Describe(SuggestedPoint& suggestion) override {
    const std::vector<Cell> cells = CellsOf(suggestion.point);
    const auto [known, pending, impossible] = KnownTrials();
    if (cells.empty() || !any_done()) return;
    Trials all = known;
    all.insert(all.end(), pending.begin(), pending.end());
    all.insert(all.end(), impossible.begin(), impossible.end());
    const RowsOf rows_of(all, dimensions().size());
    const GaussianProcess losses(RowsFor(rows_of, all), Standardised(known, false), Scales(kOfLoss), RepeatsOf(known));
    const LossScale scale(known, Standardised(known, false), false);
    GpRows row = rows_of.Empty();
    rows_of.Add(cells, row.numbers);
    const auto [mean, deviation] = losses.At(row).front();
    suggestion.how = SuggestedPoint::How::kProcess;
    suggestion.expected = scale.LossOf(mean);
    suggestion.low = scale.LossOf(mean - deviation);
    suggestion.high = scale.LossOf(mean + deviation);
    const double least = LeastFeasible(rows_of, known, losses);
    suggestion.best = scale.LossOf(least);
    const double z = (least - mean) / deviation;
    suggestion.improvement = std::exp(LogImprovementOf(z).value) * deviation * scale.slope();
    if (has_two_losses()) DescribeSecond(suggestion, rows_of, known, all, row);
    if (!impossible.empty()) {
      const auto [label, doubt] = AllowedOf(rows_of, all, impossible.size()).At(row).front();
      suggestion.allowed = std::exp(LogNormalBelow(label / doubt).value);
    }
    for (const std::string& dimension : space().dimensions()) {
      const std::size_t d = dimensions().at(dimension);
      if (cells[d].exists) suggestion.axes.push_back({space().LabelOf(dimension), losses.scales().lengths[d]});
    }
    suggestion.near = NearestOf(known, rows_of, row.numbers, losses.scales().lengths);
  }

  // The second loss, and what both together improve.
  void DescribeSecond(SuggestedPoint& suggestion, const RowsOf& rows_of, const Trials& known, const Trials& all,
                      const GpRows& row) {
    const std::vector<double> standardised = Standardised(known, true);
    const GaussianProcess losses(RowsFor(rows_of, all), standardised, Scales(kOfSecond), RepeatsOf(known));
    const LossScale scale(known, standardised, true);
    const auto [mean, deviation] = losses.At(row).front();
    suggestion.second = {scale.LossOf(mean), scale.LossOf(mean - deviation), scale.LossOf(mean + deviation)};
    suggestion.improvement = std::exp(ImprovementOf(rows_of, known, all)->At(row).front());
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

  // Where only infeasible points are known, it looks for feasible ones.
  bool CanSuggest() const override { return any_done() || infeasible() > 0; }

  Point Suggest(std::uint64_t trial) override {
    if (LeavesItToTpe()) return tpe_->Ask(trial, 1).front();
    const auto [known, pending, impossible] = KnownTrials();
    Trials all = known;
    all.insert(all.end(), pending.begin(), pending.end());
    all.insert(all.end(), impossible.begin(), impossible.end());
    const RowsOf rows_of(all, dimensions().size());
    const Expectation expectation = ExpectationOf(rows_of, known, all, impossible.size());
    Stream stream(DrawOf(trial, "candidates ", 0));
    std::vector<Place> places = Candidates(stream);
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
      if (trial->has_result() || trial->state == State::kFailed) {
        known.push_back(&*trial);
      } else if (trial->state == State::kOpen) {
        if (pending.size() < kMaxPending) pending.push_back(&*trial);
      } else if (impossible.size() < kMaxImpossible) {
        impossible.push_back(&*trial);
      }
    }
    return {known, pending, impossible};
  }

  static GpRows RowsFor(const RowsOf& rows_of, const Trials& trials) {
    GpRows rows = rows_of.Empty();
    for (const LearnedTrial* trial : trials) rows_of.Add(trial->cells, rows.numbers);
    return rows;
  }

  Expectation ExpectationOf(const RowsOf& rows_of, const Trials& known, const Trials& all, std::size_t impossible) {
    std::vector<Expectation::Chance> chances;
    if (impossible > 0) {
      constexpr double kDoubt = 0.1;
      chances.push_back({AllowedOf(rows_of, all, impossible), 0, 1, kDoubt});
    }
    std::size_t constraints = 0;
    for (const LearnedTrial* trial : known) constraints = std::max(constraints, trial->excess.size());
    for (std::size_t i = 0; i < constraints; ++i) {
      if (auto chance = ChanceOf(i, rows_of, known, all)) chances.push_back(*std::move(chance));
    }
    return {ImprovementOf(rows_of, known, all), std::move(chances)};
  }

  static std::vector<double> RepeatsOf(const Trials& known) {
    std::vector<double> repeats;
    for (const LearnedTrial* trial : known) repeats.push_back(static_cast<double>(trial->repeats));
    return repeats;
  }

  static Trials Feasible(const Trials& known) {
    Trials feasible;
    for (const LearnedTrial* trial : known) {
      if (trial->state == State::kDone) feasible.push_back(trial);
    }
    return feasible;
  }
  // The least mean at a result that no constraint forbids.
  double LeastFeasible(const RowsOf& rows_of, const Trials& known, const GaussianProcess& losses) const {
    if (infeasible() == 0) return losses.least_mean();
    const auto means = losses.At(RowsFor(rows_of, Feasible(known)));
    const auto less = [](const auto& a, const auto& b) { return a.mean < b.mean; };
    const auto least = std::min_element(means.begin(), means.end(), less);
    return least == means.end() ? losses.least_mean() : least->mean;
  }

  // Of the means at the feasible results.
  std::unique_ptr<Improvement> ImprovementOf(const RowsOf& rows_of, const Trials& known, const Trials& all) {
    if (!any_done()) return nullptr;
    GaussianProcess first(RowsFor(rows_of, all), Standardised(known, false), Scales(kOfLoss), RepeatsOf(known));
    if (!has_two_losses()) {
      const double best = LeastFeasible(rows_of, known, first);
      return std::make_unique<OfOneLoss>(std::move(first), best);
    }
    const GpRows rows = RowsFor(rows_of, Feasible(known));
    const auto means = first.At(rows);
    GaussianProcess second(RowsFor(rows_of, all), Standardised(known, true), Scales(kOfSecond), RepeatsOf(known));
    const auto second_means = second.At(rows);
    OfTwoLosses::Front losses;
    for (std::size_t i = 0; i < means.size(); ++i) losses.emplace_back(means[i].mean, second_means[i].mean);
    return std::make_unique<OfTwoLosses>(std::move(first), std::move(second), losses);
  }

  // A classification by regression: 1 is possible, -1 is not.
  static GaussianProcess AllowedOf(const RowsOf& rows_of, const Trials& all, std::size_t impossible) {
    constexpr double kLength = 0.3;
    GpRows rows = RowsFor(rows_of, all);
    std::vector<double> labels(all.size(), 1.0);
    std::fill(labels.end() - static_cast<std::ptrdiff_t>(impossible), labels.end(), -1.0);
    const std::size_t dimensions = rows.dimensions();
    return {std::move(rows), labels, {std::vector<double>(dimensions, kLength), 1, 1e-3}};
  }

  // How far trials are beyond the bound of a constraint, of those where that is known.
  struct Excesses {
    Trials trials;
    std::vector<double> numbers;  // standardised
    Moments moments;
  };
  static Excesses ExcessesOf(std::size_t constraint, const Trials& known) {
    Excesses excesses;
    for (const LearnedTrial* trial : known) {
      if (!trial->has_result() || constraint >= trial->excess.size()) continue;
      if (!std::isfinite(trial->excess[constraint])) continue;
      excesses.trials.push_back(trial);
      excesses.numbers.push_back(trial->excess[constraint]);
    }
    excesses.moments = Standardise(excesses.numbers);
    return excesses;
  }

  // That the constraint holds, by a model of its metric.
  std::optional<Expectation::Chance> ChanceOf(std::size_t constraint, const RowsOf& rows_of, const Trials& known,
                                              const Trials& all) {
    Excesses excesses = ExcessesOf(constraint, known);
    if (excesses.trials.empty()) return std::nullopt;
    const std::set<const LearnedTrial*> with(excesses.trials.begin(), excesses.trials.end());
    Trials rows = excesses.trials;
    for (const LearnedTrial* trial : all) {
      if (!with.contains(trial)) rows.push_back(trial);
    }
    constexpr double kDoubt = 1e-6;
    return Expectation::Chance{
        GaussianProcess(RowsFor(rows_of, rows), excesses.numbers, Scales(static_cast<int>(constraint))),
        -excesses.moments.mean / excesses.moments.deviation, -1, kDoubt};
  }

  // Fitted again only when there are a twentieth more results, to those at that time: a sweep that is resumed then has
  // the same. Of one of the losses, or of a constraint by its number.
  const GpScales& Scales(int model) {
    Fit& fit = fits_[model];
    std::size_t counted = reports_.size();
    counted -= counted % std::max<std::size_t>(1, counted / 20);
    if (fit.to == counted && fit.level == level()) return fit.scales;
    fit.to = counted;
    fit.level = level();
    const auto is_result = [this](const Reported& report) { return report.level == level() && report.result.loss; };
    if (std::none_of(reports_.begin(), reports_.begin() + static_cast<std::ptrdiff_t>(counted), is_result)) {
      counted = reports_.size();
    }
    std::map<std::uint64_t, TrialResult> last;
    for (std::size_t i = 0; i < counted; ++i) {
      const Reported& report = reports_[i];
      TrialResult& known = last[report.trial];
      const std::vector<double> excess = report.result.excess.empty() ? known.excess : report.result.excess;
      if (report.level == level()) known = report.result;
      known.excess = excess;
    }
    std::vector<LearnedTrial> then;
    for (const auto& [number, result] : last) {
      if (trials()[number].cells.empty()) continue;
      const State state = StateOf(result);
      then.push_back({{},
                      trials()[number].cells,
                      state,
                      state == State::kFailed ? 0 : *result.loss,
                      state == State::kFailed ? std::nullopt : result.second,
                      result.excess});
    }
    Trials fitted;
    for (const LearnedTrial& trial : then) fitted.push_back(&trial);
    std::vector<double> losses;
    if (model < 0) {
      losses = Standardised(fitted, model == kOfSecond);
    } else {
      Excesses excesses = ExcessesOf(static_cast<std::size_t>(model), fitted);
      fitted = std::move(excesses.trials);
      losses = std::move(excesses.numbers);
    }
    if (fitted.empty()) {
      constexpr double kLength = 0.3;
      fit.scales = {std::vector<double>(dimensions().size(), kLength)};
      return fit.scales;
    }
    const RowsOf rows_of(fitted, dimensions().size());
    std::vector<std::size_t> order(fitted.size());
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t one, std::size_t other) { return losses[one] < losses[other]; });
    GpRows rows = rows_of.Empty();
    std::vector<double> chosen;
    for (const std::size_t at : FittedPlaces(order.size())) {
      rows_of.Add(fitted[order[at]]->cells, rows.numbers);
      chosen.push_back(losses[order[at]]);
    }
    fit.scales = FitScales(rows, chosen);
    return fit.scales;
  }

  std::vector<Place> Candidates(Stream& stream) const {
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
    for (const std::uint64_t number : Best(kNearResults)) good.push_back(&trials()[number]);
    for (std::size_t i = 0; i < kNearCandidates && !good.empty(); ++i) {
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
  static constexpr int kOfLoss = -1;
  static constexpr int kOfSecond = -2;
  struct Fit {
    std::optional<std::size_t> to;
    std::uint64_t level = LearnedTrial::kWhole;
    GpScales scales;
  };

  std::vector<Reported> reports_;
  std::map<int, Fit> fits_;
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
