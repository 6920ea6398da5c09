// Measures what early stopping costs and finds on made curves: resource used and the best loss of trials that ran to
// the end, by the rules that sweeps decide with, beside the figures of Optuna and of synchronous forms on the same
// curves.
//
// usage: early_stop [ORDERS]    default 20
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <numeric>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "sweep/scheduler/stop_rules.h"

using namespace muster;

namespace {

constexpr int kSteps = 81;
constexpr std::size_t kCurves = 1000;
constexpr std::size_t kTried = 200;

class SplitMix {
 public:
  explicit SplitMix(std::uint64_t seed) : state_(seed) {}
  std::uint64_t Next() {
    std::uint64_t x = state_ += 0x9e3779b97f4a7c15U;
    x = (x ^ (x >> 30U)) * 0xbf58476d1ce4e5b9U;
    x = (x ^ (x >> 27U)) * 0x94d049bb133111ebU;
    return x ^ (x >> 31U);
  }
  double Uniform() { return static_cast<double>(Next() >> 11U) * 0x1p-53; }

 private:
  std::uint64_t state_;
};

// loss(t) = a + b · t^-c
struct Curve {
  double a = 0;
  double b = 0;
  double c = 0;
  double At(int step) const { return a + b * std::pow(step, -c); }
};

const std::vector<Curve>& Curves() {
  static const std::vector<Curve> curves = [] {
    SplitMix random(12345);
    std::vector<Curve> made;
    for (std::size_t i = 0; i < kCurves; ++i) {
      const double a = .05 + .45 * random.Uniform();
      const double b = .2 + 1.8 * random.Uniform();
      made.push_back({a, b, .2 + 1.3 * random.Uniform()});
    }
    return made;
  }();
  return curves;
}

std::vector<Curve> TriedCurves(std::uint64_t order) {
  std::vector<std::size_t> numbers(kCurves);
  std::iota(numbers.begin(), numbers.end(), std::size_t{0});
  SplitMix random(1000 + order);
  for (std::size_t i = kCurves - 1; i > 0; --i) std::swap(numbers[i], numbers[random.Next() % (i + 1)]);
  std::vector<Curve> tried;
  for (std::size_t i = 0; i < kTried; ++i) tried.push_back(Curves()[numbers[i]]);
  return tried;
}

struct Outcome {
  double units = 0;
  std::optional<double> best;  // at the last step, of trials that came to it
  std::size_t full = 0;
};

// One trial at a time: the best paused one that may continue, or else the next of the first `trials`.
Outcome Simulate(const SweepDescription& sweep, const std::vector<Curve>& curves, std::size_t trials) {
  StopRules rules(sweep, {});
  std::vector<TrialProgress> progress(trials);
  std::vector<int> reached(trials);
  Outcome outcome;
  const auto run = [&](std::size_t trial) {
    for (int& step = reached[trial]; step < kSteps;) {
      const double loss = curves[trial].At(++step);
      ++outcome.units;
      const auto decided = rules.Take(trial, 0, progress[trial], {{"step", Value(step)}, {"loss", Value(loss)}});
      if (!decided.stop) continue;
      const auto* at = std::get_if<RungReached>(&decided.entries.back());
      if (at != nullptr && at->decision.paused) rules.Paused(trial, at->decision.rung);
      return;
    }
    rules.Finished(trial, progress[trial]);
    ++outcome.full;
    const double loss = curves[trial].At(kSteps);
    if (!outcome.best || loss < *outcome.best) outcome.best = loss;
  };
  for (std::size_t next = 0;;) {
    if (const auto promoted = rules.NextPromotion()) {
      rules.Promoted(*promoted);
      rules.Continue(progress[promoted->trial], promoted->rung + 1);
      run(promoted->trial);
    } else if (next < trials) {
      run(next++);
    } else {
      return outcome;
    }
  }
}

// numpy's: between the two nearest.
double QuantileOf(std::vector<double> values, double share) {
  if (values.empty()) return std::nan("");
  std::sort(values.begin(), values.end());
  const double at = share * static_cast<double>(values.size() - 1);
  const auto below = static_cast<std::size_t>(at);
  const double above = values[std::min(below + 1, values.size() - 1)];
  return values[below] + (at - static_cast<double>(below)) * (above - values[below]);
}

void PrintRule(const std::string& label, std::optional<EarlyStopChoice> rule, std::uint64_t orders,
               std::size_t trials = kTried) {
  std::vector<double> units, bests, excess, full;
  std::size_t found = 0;
  for (std::uint64_t order = 0; order < orders; ++order) {
    const std::vector<Curve> curves = TriedCurves(order);
    double least = curves.front().At(kSteps);
    for (const Curve& curve : curves) least = std::min(least, curve.At(kSteps));
    SweepDescription sweep;
    sweep.objective = Objective{"loss"};
    sweep.early_stop = rule;
    sweep.sampler.seed = order;
    const Outcome outcome = Simulate(sweep, curves, trials);
    units.push_back(outcome.units);
    full.push_back(static_cast<double>(outcome.full));
    if (!outcome.best) continue;
    bests.push_back(*outcome.best);
    excess.push_back(*outcome.best - least);
    found += *outcome.best == least ? 1 : 0;
  }
  std::printf("  %-44s %7.0f (%.0f/%.0f)  %.5f  %.4f, %.3f  %zu/%llu  %g\n", label.c_str(), QuantileOf(units, .5),
              QuantileOf(units, .25), QuantileOf(units, .75), QuantileOf(bests, .5), QuantileOf(excess, .5),
              QuantileOf(excess, 1), found, static_cast<unsigned long long>(orders), QuantileOf(full, .5));
}

}  // namespace

int main(int argc, char** argv) {
  const std::uint64_t orders = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 20;
  using Kind = EarlyStopChoice::Kind;
  std::printf("  first curve: %.17g, %.6f at the end (expected: 0.10988585089764227, 0.229168)\n", Curves()[0].a,
              Curves()[0].At(kSteps));
  std::printf("  %-44s units, median (quartiles)  best loss  excess: median, most  found the best  full runs\n",
              "rule");
  const EarlyStopChoice asha{.min = 1, .max = kSteps, .eta = 3};
  EarlyStopChoice promoting = asha;
  promoting.promote = true;
  EarlyStopChoice hyperband = asha;
  hyperband.kind = Kind::kHyperband;
  EarlyStopChoice promoting_hyperband = hyperband;
  promoting_hyperband.promote = true;
  std::size_t bracketed = 0;
  for (const HyperbandBracket& bracket : HyperbandBrackets(1, kSteps, 3)) bracketed += bracket.trials.front();
  PrintRule("none", std::nullopt, orders);
  PrintRule("asha", asha, orders);
  PrintRule("asha, promote", promoting, orders);
  PrintRule("hyperband", hyperband, orders);
  PrintRule("hyperband, promote", promoting_hyperband, orders);
  PrintRule("hyperband, " + std::to_string(bracketed) + " trials", hyperband, orders, bracketed);
  PrintRule("hyperband, promote, " + std::to_string(bracketed) + " trials", promoting_hyperband, orders, bracketed);
  PrintRule("median", EarlyStopChoice{.kind = Kind::kMedian}, orders);
  // Measured once, with 20 orders: Optuna 5.0.0.dev (1d8ce7bb), asked at every step; and synchronous forms.
  constexpr const char* kPeers[][2] = {
      {"Optuna, SuccessiveHalvingPruner(1, 3)", "929 (823/1081)  0.05755  0.0022, 0.021  7/20  5"},
      {"Optuna, HyperbandPruner(1, 81, 3)", "2774 (2604/2996)  0.05636  0, 0.0098  13/20  23"},
      {"Optuna, MedianPruner()", "1624 (1227/2013)  0.05755  0.0022, 0.023  9/20  16.5"},
      {"synchronous halving, 200 trials", "698  0.05755  0.0025, 0.023  8/20  2"},
      {"ASHA with promotion, another simulation", "877 (830/970)  0.05745  0.0010, 0.023  10/20  3.5"},
      {"synchronous Hyperband, 143 trials, resumed", "1581  0.05755  0.0007, 0.032  8/20  10"}};
  for (const auto& [label, figures] : kPeers) std::printf("  %-44s %7s %s\n", label, "", figures);
  return 0;
}
